/** thumbnail_check: missing pictures are fetched from where the documents say, those of nobody are removed. */
import { stat } from 'node:fs/promises'
import { defineTask, Type, type App, type JobContext, type Services } from 'archivolt'
import { codeOf } from './disk.ts'

type Run = JobContext<object>
type ArtKind = Parameters<Services['media']['hasArt']>[0]
type KnownKind = 'video' | 'channel' | 'playlist'

const KINDS: Record<ArtKind, KnownKind> = { video: 'video', channel_thumb: 'channel', channel_banner: 'channel', channel_tvart: 'channel', playlist: 'playlist' }
const CHANNEL_PICTURES = ['thumb', 'banner', 'tvart'] as const
/** A picture is written before the document that it belongs to. */
const YOUNG_MS = 3_600_000

export const thumbnailCheck = defineTask({
  name: 'thumbnail_check',
  title: 'Check your Thumbnails',
  group: 'setting:thumbnailcheck',
  payload: Type.Object({}),
  lane: 'library',
  apiStart: true,
  single: true,
  schedule: { auto: '0 17 *', initially: 'random' },
  async run(job, app) {
    const fetched = await fetchMissingArt(job, app)
    const removed = await removeOrphans(job, app)
    job.progress(1, `${fetched} fetched, ${removed} removed`)
    return null
  },
})

interface Wanted {
  kind: ArtKind
  id: string
  url: string
}

/**
 * What cannot be had is left for the next time: a refresh may bring another address.
 * @param fraction  how far the job is meanwhile
 * @returns how many were fetched
 */
export async function fetchMissingArt(job: Run, app: App, fraction = 0): Promise<number> {
  let looked = 0
  let fetched = 0
  for await (const { kind, id, url } of wantedArt(app)) {
    job.signal.throwIfAborted()
    if (looked++ % 100 === 0) job.progress(fraction, `Looking for missing pictures: ${looked} seen, ${fetched} fetched`)
    if (await app.media.hasArt(kind, id)) continue
    if (await app.media.fetchArt(kind, id, url, job.signal)) fetched++
  }
  return fetched
}

async function* wantedArt(app: App): AsyncGenerator<Wanted> {
  for await (const batch of app.videos.collection.scan()) {
    for (const { id, doc } of batch) if (doc.art !== undefined) yield { kind: 'video', id, url: doc.art }
  }
  for await (const batch of app.channels.collection.scan()) {
    for (const { id, doc } of batch) {
      const urls = picturesOf(doc.art)
      for (const picture of CHANNEL_PICTURES) {
        const url = urls[picture]
        if (typeof url === 'string') yield { kind: `channel_${picture}`, id, url }
      }
    }
  }
  for await (const batch of app.playlists.collection.scan({ batch: 20 })) {
    for (const { id, doc } of batch) if (doc.art !== undefined) yield { kind: 'playlist', id, url: doc.art }
  }
}

/** A restored document may have anything there. */
function picturesOf(art: string | undefined): Partial<Record<(typeof CHANNEL_PICTURES)[number], unknown>> {
  try {
    return (JSON.parse(art ?? '{}') as object | null) ?? {}
  } catch {
    return {}
  }
}

async function removeOrphans(job: Run, app: App): Promise<number> {
  let removed = 0
  for (const [kind, known] of Object.entries(KINDS) as Array<[ArtKind, KnownKind]>) {
    for await (const id of app.media.artIds(kind)) {
      job.signal.throwIfAborted()
      if ((await isKept(known, id, app)) || (await isYoung(app.media.artPathOf(kind, id), app))) continue
      await app.media.removeArt(kind, id)
      removed++
    }
  }
  return removed
}

async function isKept(kind: KnownKind, id: string, app: App): Promise<boolean> {
  for (const isKnown of app.slot('media.known')) if (await isKnown(kind, id)) return true
  return false
}

async function isYoung(path: string, app: App): Promise<boolean> {
  try {
    return app.clock.now() - (await stat(path)).mtimeMs < YOUNG_MS
  } catch (thrown) {
    if (codeOf(thrown) === 'ENOENT') return true // gone with its document meanwhile
    throw thrown
  }
}
