/** Compares an answer of the platform with a document: pairs of the values before and after, by part. */
import type { ChannelDoc } from '../channel/schema.ts'
import type { ChannelMetadata, ListEntry, PlaylistMetadata, VideoMetadata } from '../platform/types.ts'
import type { PlaylistDoc } from '../playlist/schema.ts'
import type { VideoDoc } from '../video/schema.ts'
import type { Part } from './rows.ts'

/** By part: the value that was known, and the one from the platform. undefined: unknown, or missing in the answer. */
export type Pairs = Partial<Record<Part, { before: unknown; after: unknown }>>

/** The last known values of parts that are not in the document. */
export interface Seen {
  /** Seconds, according to the platform. */
  length?: number
  captions?: string[]
  /** `public`, `unlisted` … */
  availability?: string
  handle?: string
}

/** Tolerance, because platform and file may round differently. */
const SAME_SECONDS = 1

/** Treats an empty text or list as unknown, as everywhere (`told`). */
const given = <Value extends string | readonly unknown[]>(value: Value | undefined): Value | undefined =>
  value === undefined || value.length === 0 ? undefined : value

const sorted = (list: readonly string[]): string[] => [...new Set(list)].sort()

/**
 * The values of an answer that are not in the document. Captions are often withheld, so an answer without captions is
 * ignored.
 */
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

/** An entry of a tab has at most a title and a length. */
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

/** @param isCut  the listing was truncated, so that missing entries may still be in the playlist */
export function pairsOfPlaylist(doc: PlaylistDoc, metadata: PlaylistMetadata, isCut: boolean): Pairs {
  const was = new Map(doc.playlist_entries.map(({ platform_id: id, title }) => [id, title]))
  const is = new Map(metadata.entries.filter(({ isThere }) => isThere).map(({ id, title }) => [id, title]))
  // A placeholder also counts as an entry.
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

/** Lists of words, which have no order on the platform. */
const UNORDERED: ReadonlySet<Part> = new Set(['tags', 'category'])

export function isSame(part: Part, one: unknown, other: unknown): boolean {
  const textOf = (value: unknown) =>
    JSON.stringify(UNORDERED.has(part) && Array.isArray(value) ? sorted(value as string[]) : value)
  return textOf(one) === textOf(other)
}
