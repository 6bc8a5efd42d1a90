/** The title and picture of a video that the account sees first: the platform's, or those that viewers propose. */
import type { Video } from '../server/records.ts'
import { userPreferences } from '../stores/session.ts'

interface Titled {
  title: string
  picture: string
}

/** `other`: what a switch shows instead; left out if there is nothing else, or nobody wants it. */
export function titledAs({ title, vid_thumb_url: picture, dearrow }: Video): Titled & { other?: Titled } {
  const own = { title, picture }
  const { titles } = userPreferences.value
  if (!dearrow?.title || titles === 'original') return own
  const theirs = { title: dearrow.title, picture }
  return titles === 'community' ? { ...theirs, other: own } : { ...own, other: theirs }
}
