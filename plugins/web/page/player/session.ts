/** The media session: media keys, headphones, and lock screens. */
import { under } from '../server/base.ts'
import type { Video } from '../server/records.ts'
import type { Step } from './step.ts'

/** @returns a function that clears the actions */
export function updateMediaSession(
  { title, channel, vid_thumb_url: art }: Video,
  { next, previous }: { next: Step | undefined; previous: Step | undefined },
): (() => void) | undefined {
  if (!('mediaSession' in navigator)) return undefined
  const session = navigator.mediaSession
  const artwork = [{ src: under(art), type: 'image/jpeg' }]
  session.metadata = new MediaMetadata({ title, artist: channel.channel_name, artwork })
  session.setActionHandler('nexttrack', next ? next.go : null)
  session.setActionHandler('previoustrack', previous ? previous.go : null)
  return () => {
    session.setActionHandler('nexttrack', null)
    session.setActionHandler('previoustrack', null)
  }
}
