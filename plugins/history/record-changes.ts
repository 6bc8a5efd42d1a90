/** Records the changes in each answer of the platform, before the documents are updated. */
import { epochSeconds } from 'archivolt'
import type { Answer, ListEntry, VideoMetadata } from '../platform/types.ts'
import type { VideoDoc } from '../video/schema.ts'
import type { App } from './app.ts'
import {
  isSame,
  type Pairs,
  pairsOfChannel,
  pairsOfEntry,
  pairsOfPlaylist,
  pairsOfVideo,
  type Seen,
  seenIn,
} from './compare.ts'
import { noteCut } from './length-change.ts'
import type { Point } from './numbers.ts'
import type { Kind, Part } from './rows.ts'
import { noteUploadedAgain } from './uploaded-again.ts'

export async function hear(answer: Answer, app: App): Promise<void> {
  if ('failure' in answer) return
  if (answer.kind === 'video') return hearVideo(answer.metadata, answer.isDownload === true, app)
  if (answer.kind === 'tab') {
    await hearTab(answer.entries, app)
    return noteUploadedAgain(answer.id, answer.entries, app)
  }
  if (answer.kind === 'channel') {
    const { id, metadata } = answer
    const doc = await app.channels.get(id)
    if (!doc) return
    const { views = null, subscribers = null, handle } = metadata
    return write(
      { kind: 'channel', id, numbers: { views, second: subscribers }, seen: handle === undefined ? {} : { handle } },
      (seen) => pairsOfChannel(doc, metadata, seen),
      app,
    )
  }
  const doc = await app.playlists.get(answer.id)
  if (doc?.playlist_type !== 'regular') return
  const isCut = app.playlists.isCut(answer.metadata, doc)
  await write({ kind: 'playlist', id: answer.id, seen: {} }, () => pairsOfPlaylist(doc, answer.metadata, isCut), app)
}

async function hearVideo(metadata: VideoMetadata, isDownload: boolean, app: App): Promise<void> {
  const { id, viewCount: views = null, likeCount: second = null, unavailable } = metadata
  // The platform has the video again, but may not say to whom it is available.
  const isBack = app.history.losses.get('video', id)?.back_at != null
  const told = { ...metadata, ...(isBack && { availability: metadata.availability ?? 'public' }) }
  const seen = seenIn(told)
  const doc = await app.videos.get(id)
  if (doc) {
    await write({ kind: 'video', id, numbers: { views, second }, seen }, (known) => pairsOfVideo(doc, told, known), app)
    if (!unavailable) await noteCut(doc, metadata.durationSeconds, app)
    return noteFormerTitles(doc, app)
  }
  // The video is archived after this answer. Record values that its document will not have, so that they are known from
  // the start.
  if (isDownload) await write({ kind: 'video', id, seen }, () => ({}), app)
}

async function hearTab(entries: readonly ListEntry[], app: App): Promise<void> {
  const docs = await app.videos.collection.getMany(entries.map(({ id }) => id))
  for (const entry of entries) {
    const doc = docs.get(entry.id)
    if (!doc) continue
    const seen = seenIn(entry)
    await write({ kind: 'video', id: entry.id, seen }, (known) => pairsOfEntry(doc, entry, known), app)
    await noteCut(doc, entry.durationSeconds ?? 0, app)
    await noteFormerTitles(doc, app)
  }
}

interface Told {
  kind: Kind
  id: string
  numbers?: Omit<Point, 'seen_at'>
  seen: Seen
}

/** Writes in one transaction, so that two simultaneous answers do not both record the same change. */
async function write({ kind, id, numbers, seen }: Told, pairsOf: (known: Seen) => Pairs, app: App): Promise<void> {
  const { rows, numbers: series } = app.history
  const seenAt = epochSeconds(app.clock)
  const news = () => {
    const known: Seen = rows.seen(kind, id) ?? {}
    return { changes: changesIn(pairsOf(known), rows.lastOf(kind, id)), next: { ...known, ...seen }, known }
  }
  const { changes, next, known } = news()
  if (!numbers && changes.length === 0 && JSON.stringify(next) === JSON.stringify(known)) return
  await app.ledger.write(() => {
    const now = news()
    for (const change of now.changes) rows.add({ kind, subject: id, seenAt, ...change })
    rows.setSeen(kind, id, now.next)
    if (numbers) series.add(kind, id, { seen_at: seenAt, ...numbers })
  })
}

/**
 * @param last  the last recorded values: a document may be older, because a tab shows a new title before a refresh
 * writes it
 */
function changesIn(pairs: Pairs, last: ReadonlyMap<Part, unknown>) {
  return (Object.entries(pairs) as Array<[Part, { before: unknown; after: unknown }]>).flatMap(
    ([part, { before: said, after }]) => {
      const before = part !== 'entries' && last.has(part) ? last.get(part) : said
      return after === undefined || before === undefined || isSame(part, before, after) ? [] : [{ part, before, after }]
    },
  )
}

/** Adds former titles to the document, for searches: after an interruption, one may be missing. */
async function noteFormerTitles({ platform_id: id, former_titles: noted = [] }: VideoDoc, app: App): Promise<void> {
  const former = app.history.rows.befores('video', id, 'title')
  const missing = former.filter((title): title is string => typeof title === 'string' && !noted.includes(title))
  if (missing.length > 0) await app.videos.change(id, { add: { former_titles: [...new Set(missing)] } })
}
