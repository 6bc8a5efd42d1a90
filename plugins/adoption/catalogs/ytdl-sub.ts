/**
 * Reads ytdl-sub, which has no database: a file with ids and file names in each subscription's folder, and a file of
 * subscriptions that people write by hand.
 */
import { dirname } from 'node:path'
import { channelOrHandleIn, dayOf, given, objectOf, playlistInAddress, textOf, textsOf } from '../../film-kit/values.ts'
import { jsonIn, yamlIn } from './files.ts'
import { type CatalogKind, type CatalogTake, NoCatalog } from './types.ts'

const SIDE_FILE = /\.(?:info\.json|nfo|jpe?g|png|webp|vtt|srt|ass|json|txt|description)$/i
const OF_WHOLE = /(?:\.info\.json|\.nfo|-thumb\.[a-z]+)$/i

export const ytdlSub: CatalogKind = {
  name: 'ytdl-sub',
  title: 'ytdl-sub',
  find: (files) => files.filter((file) => /(?:^|\/)\.ytdl-sub-[^/]*-download-archive\.json$/i.test(file)),
  beside: (files) => files.filter((file) => /(?:^|\/)subscriptions\.ya?ml$/i.test(file)).slice(0, 1),

  async read({ files, beside: [subscriptions] }, take) {
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
          const stored = `${dirname(path)}/${name}`
          // Two subscriptions with the same folder may have the same video.
          if (seen.has(stored)) continue
          seen.add(stored)
          take.film({
            id,
            path: stored,
            info: given({ id, upload_date: dayOf(day) }),
            ...(films.length > 1 && hasWhole && !isOfWhole(name) && { isPart: true }),
            ...(textOf(extractor) !== '' && { extractor: textOf(extractor) }),
          })
        }
      }
    }
    if (!isAny) throw new NoCatalog('It lists no files')
    if (subscriptions !== undefined) await readSubscriptions(subscriptions, take)
  },
}

async function readSubscriptions(path: string, take: CatalogTake): Promise<void> {
  try {
    const told = new Set<string>()
    for (const { address, name } of addressesIn(await yamlIn(path))) {
      const [channel, playlist] = [channelOrHandleIn(address), playlistInAddress(address)]
      const [kind, id] = playlist === undefined ? (['channel', channel] as const) : (['playlist', playlist] as const)
      if (id === undefined || told.has(id)) continue
      told.add(id)
      take.along({ kind, id, name })
    }
  } catch (thrown) {
    if (!(thrown instanceof NoCatalog)) throw thrown
    take.unread(path, thrown.why)
  }
}

const ADDRESS = /^https?:\/\/(?:[a-z]+\.)?youtube\.com\//i
/** Keys of a subscription with several addresses: `url`, `url2`, `s01_url`. */
const IS_FIELD = /^(?:\w+_)?url\d*$/
/** Keys that are not reported: genres, presets, people, and settings for all subscriptions. */
const SET_FOR_ALL = /^__/
const MOST_DEPTH = 20

/** All texts that are URLs, at any depth, with the nearest key. */
function* addressesIn(value: unknown, name = '', depth = 0): Generator<{ address: string; name: string }> {
  if (typeof value === 'string') {
    if (ADDRESS.test(value)) yield { address: value, name }
  } else if (depth > MOST_DEPTH) return
  else if (Array.isArray(value)) for (const one of value) yield* addressesIn(one, name, depth + 1)
  else
    for (const [key, one] of Object.entries(objectOf(value)))
      if (!SET_FOR_ALL.test(key))
        yield* addressesIn(one, IS_FIELD.test(key) ? name : key.replace(/^[~+=\s]+/, ''), depth + 1)
}
