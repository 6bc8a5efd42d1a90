/** The title and picture of a video that the account prefers: those of the platform, or those that viewers propose. */
import { signal } from '@preact/signals'
import { get } from '../server/api.ts'
import type { Video } from '../server/records.ts'
import { community, userPreferences } from './session.ts'

interface Titled {
  title: string
  picture: string
}

/** `other`: the alternative, which a switch shows; missing if there is none, or the account does not want it. */
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

const MOST_AT_ONCE = 50

/** Titles that viewers propose, by the ids of videos of which only the id is known; undefined: there is none. */
const known = signal<ReadonlyMap<string, string | undefined>>(new Map())
const asked = new Set<string>()
let waiting: string[] = []

/**
 * The title that the account prefers, once it is known. For views that have only the id and the platform's title.
 * @param title  the platform's
 */
export function shownTitle(id: string, title: string): string {
  if (userPreferences.value.titles !== 'community' || !community.value.includes('titles')) return title
  if (!asked.has(id)) {
    asked.add(id)
    if (waiting.push(id) === 1) queueMicrotask(() => void ask())
  }
  return known.value.get(id) ?? title
}

async function ask(): Promise<void> {
  const ids = waiting
  waiting = []
  for (let at = 0; at < ids.length; at += MOST_AT_ONCE) {
    const some = ids.slice(at, at + MOST_AT_ONCE)
    try {
      const titles = await get<Record<string, string>>('/api/dearrow/', { ids: some.join() })
      known.value = new Map([...known.peek(), ...some.map((id) => [id, titles[id]] as const)])
    } catch {
      for (const id of some) asked.delete(id) // the platform's titles stay, and the next view requests the others again
    }
  }
}
