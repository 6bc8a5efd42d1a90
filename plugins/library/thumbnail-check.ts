/**
 * thumbnail_check: restores missing pictures from files next to films, from the addresses in the documents, or from the
 * films, and removes pictures without a document.
 */
import { stat } from 'node:fs/promises'
import { basename } from 'node:path'
import { defineTask, type JobContext, say, Type } from 'archivolt'
import { codeOf } from '../film-kit/disk-fault.ts'
import type { ArtKind } from '../media/types.ts'
import type { VideoDoc } from '../video/schema.ts'
import type { App } from './app.ts'
import { filmsOf, mediaDirOf } from './disk.ts'
import { type LostPictures, openLostPictures } from './lost-pictures.ts'
import { openReading } from './reading.ts'

type Run = JobContext<object>
type KnownKind = 'video' | 'channel' | 'playlist'

const KINDS: Record<ArtKind, KnownKind> = {
  video: 'video',
  channel_thumb: 'channel',
  channel_banner: 'channel',
  channel_tvart: 'channel',
  playlist: 'playlist',
}
const CHANNEL_PICTURES = ['thumb', 'banner', 'tvart'] as const
/** Minimum age of an orphaned picture, because a picture is written before its document. */
const YOUNG_MS = 3_600_000

export const thumbnailCheck = defineTask({
  name: 'thumbnail_check',
  title: 'Check your Thumbnails',
  group: 'setting:thumbnailcheck',
  payload: Type.Object({}),
  lane: 'library',
  apiStart: true,
  unique: true,
  schedule: { auto: '0 17 *', initially: 'random' },
  async run(job, app: App) {
    const fetched = await fetchMissingArt(job, app)
    const removed = await removeOrphans(job, app)
    job.progress(1, say`${{ fetched }} fetched, ${{ removed }} removed`)
    return null
  },
})

type Wanted = { kind: 'video'; id: string; doc: VideoDoc } | { kind: ArtKind; id: string; url: string }

/**
 * Skips pictures that are not available now: a refresh may provide another address.
 * @param fraction  progress of the job meanwhile
 * @returns the number of restored pictures
 */
export async function fetchMissingArt(job: Run, app: App, fraction = 0): Promise<number> {
  let checked = 0
  let fetched = 0
  const lost = openLostPictures(app)
  for await (const { kind, id, ...wanted } of wantedArt(app)) {
    job.signal.throwIfAborted()
    if (checked++ % 100 === 0)
      job.progress(fraction, say`Looking for missing pictures: ${{ looked: checked }} checked, ${{ fetched }} fetched`)
    if (await app.media.hasArt(kind, id)) continue
    const has =
      'doc' in wanted
        ? await takeOfVideo(id, wanted.doc, lost, job, app)
        : await app.media.fetchArt(kind, id, wanted.url, job.signal)
    if (has) fetched++
  }
  return fetched
}

async function takeOfVideo(id: string, doc: VideoDoc, lost: LostPictures, job: Run, app: App): Promise<boolean> {
  if (await lost.takeSidecarPicture(id, doc)) return true
  // Places may contain very many films: a refresh downloads their pictures at its own pace.
  const mayAsk = doc.art !== undefined && app.media.isOurs(id)
  if (mayAsk && (await app.media.fetchArt('video', id, doc.art!, job.signal))) return true
  const mayCome = doc.active && (doc.art !== undefined || !app.media.isOurs(id))
  return !mayCome && (await lost.takeFrom(id, doc, job.signal))
}

async function* wantedArt(app: App): AsyncGenerator<Wanted> {
  for await (const batch of app.videos.collection.scan())
    for (const { id, doc } of batch) yield { kind: 'video', id, doc }
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

/** Checks the type, because a restored document may contain anything here. */
function picturesOf(art: string | undefined): Partial<Record<(typeof CHANNEL_PICTURES)[number], unknown>> {
  try {
    return (JSON.parse(art ?? '{}') as object | null) ?? {}
  } catch {
    return {}
  }
}

async function removeOrphans(job: Run, app: App): Promise<number> {
  // Read only if an orphan is found, which is rare.
  let library: Awaited<ReturnType<typeof inspectLibrary>> | undefined
  let removed = 0
  let spared = 0
  for (const [kind, known] of Object.entries(KINDS) as Array<[ArtKind, KnownKind]>) {
    for await (const id of app.media.artIds(kind)) {
      job.signal.throwIfAborted()
      if ((await app.media.isKnown(known, id)) || (await isYoung(app.media.artPathOf(kind, id), app))) continue
      if (await app.media.isKept(known, id)) continue
      library ??= await inspectLibrary(job, app)
      if (library.doubt !== undefined || (known !== 'playlist' && library.films[known].has(id))) spared++
      else {
        await app.media.removeArt(kind, id)
        removed++
      }
    }
  }
  if (spared > 0)
    job.log.warn(
      { kept: spared },
      `pictures without a document are not removed: ${library?.doubt ?? 'their films are in the library'}`,
    )
  return removed
}

async function inspectLibrary(job: Run, app: App) {
  const films = await filmsInLibrary(job, app)
  return { films, doubt: await reasonToDoubt(films, app) }
}

/**
 * Ids of videos with films in the library, and of the channels of their folders: a rescan needs their pictures, which
 * the platform may no longer have.
 */
async function filmsInLibrary(job: Run, app: App): Promise<Record<'video' | 'channel', Set<string>>> {
  const films = { video: new Set<string>(), channel: new Set<string>() }
  const reading = openReading(job, app)
  try {
    for await (const batch of filmsOf(mediaDirOf(app), reading, app)) {
      for (const { name, folder } of batch) {
        films.video.add(name)
        films.channel.add(basename(folder))
      }
    }
  } finally {
    await reading.end()
  }
  return films
}

/**
 * Why orphans must not be removed: if an index has lost its documents, or a disk is not mounted, every picture looks
 * like an orphan (contract 9.11).
 */
async function reasonToDoubt(films: Record<'video', Set<string>>, app: App): Promise<string | undefined> {
  if ((await app.media.absence()) !== undefined) return 'the library is not available'
  if (app.index.lost !== undefined) return 'the archive was empty when the server started'
  if ((await app.videos.collection.count()) === 0) return 'the archive has no videos'
  return films.video.size === 0 ? 'the library has no films' : undefined
}

async function isYoung(path: string, app: App): Promise<boolean> {
  try {
    return app.clock.now() - (await stat(path)).mtimeMs < YOUNG_MS
  } catch (thrown) {
    if (codeOf(thrown) === 'ENOENT') return true // gone with its document meanwhile
    throw thrown
  }
}
