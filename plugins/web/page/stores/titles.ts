/** The title and picture of a video that the account sees first: the platform's, or those that viewers propose. */
import { signal } from '@preact/signals'
import { get } from '../server/api.ts'
import type { Video } from '../server/records.ts'
import { community, userPreferences } from './session.ts'

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

const MOST_AT_ONCE = 50

/** Titles by viewers of videos of which only the id is known; undefined: there is none. */
const known = signal<ReadonlyMap<string, string | undefined>>(new Map())
const asked = new Set<string>()
let waiting: string[] = []

/** For places that know only a video's id: the title that the account sees, once it is known. @param title  the platform's */
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
      for (const id of some) asked.delete(id) // the platform's titles stay, and the next view asks again
    }
  }
}
