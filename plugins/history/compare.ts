/** The differences between an answer of the platform and a document: pairs of before and after, by part. */
import type { ChannelDoc } from '../channel/schema.ts'
import type { ChannelMetadata, ListEntry, PlaylistMetadata, VideoMetadata } from '../platform/types.ts'
import type { PlaylistDoc } from '../playlist/schema.ts'
import type { VideoDoc } from '../video/schema.ts'
import type { Part } from './rows.ts'

/** By part, the value that was known, and the one that the platform gives. undefined: not known, or not given. */
export type Pairs = Partial<Record<Part, { before: unknown; after: unknown }>>

/** The last values that no document has. */
export interface Seen {
  /** Seconds, as the platform says. */
  length?: number
  captions?: string[]
  /** `public`, `unlisted` … */
  availability?: string
  handle?: string
}

/** Platform and file may round differently. */
const SAME_SECONDS = 1

/** An empty text or list means that nothing is known, as everywhere (`told`). */
const given = <Value extends string | readonly unknown[]>(value: Value | undefined): Value | undefined =>
  value === undefined || value.length === 0 ? undefined : value

const sorted = (list: readonly string[]): string[] => [...new Set(list)].sort()

/** Values of an answer that no document has. Captions are often withheld, so an answer without captions is ignored. */
export function seenIn(
  told: Pick<VideoMetadata, 'availability' | 'unavailable'> &
    Partial<Pick<VideoMetadata, 'subtitles' | 'durationSeconds'>>,
): Seen {
  const { durationSeconds: length = 0, subtitles } = told
  const availability = availabilityIn(told)
  const captions = given(sorted(subtitles?.user ?? []))
  return {
    ...(length > 0 && { length }),
    ...(captions && { captions }),
    ...(subtitles && availability !== undefined && { availability }),
  }
}

const BLOCKED = /in your country|vpn|on copyright grounds/i

function availabilityIn({ availability, unavailable }: Pick<VideoMetadata, 'availability' | 'unavailable'>) {
  if (unavailable?.failure === 'restricted' && BLOCKED.test(unavailable.message)) return 'blocked'
  return availability
}

export function pairsOfVideo(doc: VideoDoc, metadata: VideoMetadata, seen: Seen): Pairs {
  const { durationSeconds } = metadata
  const { captions, availability } = seenIn(metadata)
  return {
    title: { before: doc.title, after: given(metadata.title) },
    description: { before: doc.description, after: given(metadata.description) },
    tags: { before: doc.tags, after: given(metadata.tags) },
    category: { before: doc.category, after: given(metadata.categories) },
    chapters: { before: doc.chapters ?? [], after: given(metadata.chapters) },
    captions: { before: seen.captions, after: captions },
    ...lengthOf(doc, durationSeconds, seen),
    availability: { before: seen.availability, after: availability },
  }
}

/** A row of a tab has a title and a length at most. */
export function pairsOfEntry(doc: VideoDoc, { title, durationSeconds = 0, id }: ListEntry, seen: Seen): Pairs {
  return {
    title: { before: doc.title, after: title === id ? undefined : given(title) },
    ...lengthOf(doc, durationSeconds, seen),
  }
}

function lengthOf({ player }: VideoDoc, seconds: number, seen: Seen): Pairs {
  const before = seen.length ?? player.duration
  // Live streams have no length yet, and a document may lack its own.
  const isSame = seconds === 0 || before === 0 || Math.abs(before - seconds) <= SAME_SECONDS
  return isSame ? {} : { length: { before, after: seconds } }
}

export function pairsOfChannel(doc: ChannelDoc, metadata: ChannelMetadata, seen: Seen): Pairs {
  return {
    name: { before: doc.channel_name, after: given(metadata.name) },
    description: { before: doc.channel_description, after: given(metadata.description) },
    tags: { before: doc.channel_tags, after: given(metadata.tags) },
    handle: { before: seen.handle, after: metadata.handle },
  }
}

/** @param isCut  the listing ended early, so what it lacks may still be there */
export function pairsOfPlaylist(doc: PlaylistDoc, metadata: PlaylistMetadata, isCut: boolean): Pairs {
  const was = new Map(doc.playlist_entries.map(({ platform_id: id, title }) => [id, title]))
  const is = new Map(metadata.entries.filter(({ isThere }) => isThere).map(({ id, title }) => [id, title]))
  // A placeholder is still an entry.
  const present = new Set(metadata.entries.map(({ id }) => id))
  const only = (one: ReadonlyMap<string, string>, other: { has(id: string): boolean }) =>
    [...one].filter(([id]) => !other.has(id)).map(([id, title]) => ({ id, title }))
  const removed = isCut ? [] : only(was, present)
  const added = only(is, was)
  return {
    name: { before: doc.playlist_name, after: given(metadata.name) },
    description: { before: doc.playlist_description, after: given(metadata.description) },
    ...(removed.length + added.length > 0 && { entries: { before: removed, after: added } }),
  }
}

/** Lists of words have no order on the platform. */
const UNORDERED: ReadonlySet<Part> = new Set(['tags', 'category'])

export function isSame(part: Part, one: unknown, other: unknown): boolean {
  const textOf = (value: unknown) =>
    JSON.stringify(UNORDERED.has(part) && Array.isArray(value) ? sorted(value as string[]) : value)
  return textOf(one) === textOf(other)
}
