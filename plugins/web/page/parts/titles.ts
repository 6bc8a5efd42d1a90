/** The title and picture of a video that the account sees first: the platform's, or those that viewers propose. */
import type { Video } from '../server/records.ts'
import { userPreferences } from '../stores/session.ts'

interface Titled {
  title: string
  picture: string
}

/** `other`: what a switch shows instead; left out if there is nothing else, or nobody wants it. */
export function titledAs({
  title,
  vid_thumb_url: picture,
  dearrow,
  dearrow_thumb_url,
}: Video): Titled & { other?: Titled } {
  const own = { title, picture }
  const { titles } = userPreferences.value
  if (!(dearrow?.title ?? dearrow_thumb_url) || titles === 'original') return own
  const theirs = { title: dearrow?.title ?? title, picture: dearrow_thumb_url ?? picture }
  return titles === 'community' ? { ...theirs, other: own } : { ...own, other: theirs }
}
