/** ytdl-sub: a file with all ids and names of files in each subscription's folder; no database. */
import { dirname } from 'node:path'
import { jsonIn } from './files.ts'
import { type CatalogKind, NoCatalog } from './types.ts'
import { dayOf, given, objectOf, textOf, textsOf } from './values.ts'

const SIDE_FILE = /\.(?:info\.json|nfo|jpe?g|png|webp|vtt|srt|ass|json|txt|description)$/i
const OF_WHOLE = /(?:\.info\.json|\.nfo|-thumb\.[a-z]+)$/i

export const ytdlSub: CatalogKind = {
  name: 'ytdl-sub',
  title: 'ytdl-sub',
  find: (files) => files.filter((file) => /(?:^|\/)\.ytdl-sub-[^/]*-download-archive\.json$/i.test(file)),

  read({ files }, take) {
    let isAny = false
    const seen = new Set<string>()
    for (const path of files) {
      const entries = Object.entries(objectOf(jsonIn(path)))
      for (const [id, value] of entries) {
        const { extractor, upload_date: day, file_names: names } = objectOf(value)
        if (!Array.isArray(names)) continue
        isAny = true
        const all = textsOf(names)
        const films = all.filter((name) => !SIDE_FILE.test(name))
        const whole = new Set(all.filter((name) => OF_WHOLE.test(name)).map((name) => name.replace(OF_WHOLE, '')))
        const isOfWhole = (name: string): boolean => whole.has(name.replace(/\.[^.]+$/, ''))
        const hasWhole = films.some(isOfWhole)
        for (const name of films) {
          const place = `${dirname(path)}/${name}`
          // Two subscriptions of one folder may have the same video.
          if (seen.has(place)) continue
          seen.add(place)
          take.film({
            id,
            path: place,
            info: given({ id, upload_date: dayOf(day) }),
            ...(films.length > 1 && hasWhole && !isOfWhole(name) && { isPart: true }),
            ...(textOf(extractor) !== '' && { extractor: textOf(extractor) }),
          })
        }
      }
    }
    if (!isAny) throw new NoCatalog('It names no files')
  },
}
