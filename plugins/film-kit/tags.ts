/** Converts the tags of a film to data about its video. */
import type { Info } from './types.ts'
import { dayOf, given } from './values.ts'

/** The tags of a film, with yt-dlp's keys. */
export function infoInTags(tags: ReadonlyMap<string, string>): Info {
  const text = [tags.get('description'), tags.get('synopsis'), tags.get('comment')].find(
    (one) => one !== undefined && !one.startsWith('http'),
  )
  return given({
    title: tags.get('title'),
    channel: tags.get('artist'),
    description: text,
    upload_date: dayOf(tags.get('date')),
  })
}
