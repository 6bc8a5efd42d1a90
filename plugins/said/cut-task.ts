/**
 * cut_said: cuts clips out of films and joins them into one mp4, while no other task runs. All clips are encoded in the
 * same way, because films of different encoders cannot be joined without encoding, and would only be cut at keyframes.
 * After an interruption it starts over.
 */
import { mkdir, rm, stat, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import {
  defineTask,
  diskSpace,
  errors,
  filmInput,
  isAppError,
  type JobContext,
  joinedInput,
  madeInput,
  say,
  untilStop,
} from 'archivolt'
import type { App } from './app.ts'
import { type CutClip, Payload, TASK } from './files.ts'

const SPARE_BYTES = 500 << 20

export const cutSaid = defineTask({
  name: TASK,
  title: 'Save what was said as a file',
  group: 'video:said',
  payload: Payload,
  lane: 'said',
  unique: ({ file }) => file,
  resumable: true,
  apiStop: true,
  givesWay: true,
  async run(given, app: App) {
    // A stop ends the work at once: half a file is useless.
    const job = untilStop(given)
    const { saidFiles, jobs, settings } = app
    const { file } = job.payload
    const folder = saidFiles.draftOf(`${file}-clips`)
    try {
      await jobs.quiet(job)
      if ((await diskSpace(settings.cacheDir)).free < SPARE_BYTES)
        throw errors.unavailable('There is not enough space on the disk of the cache folder for the file')
      const clips = saidFiles.clipsOf(file)
      if (!clips) return null
      await mkdir(folder, { recursive: true })
      const paths = await cutAll(clips, folder, job, app)
      await job.step('said.join', () => joinClips(paths, folder, job, app))
      await job.step('said.keep', () => saidFiles.keep(file))
      return 'The clips are ready'
    } finally {
      saidFiles.making.delete(file)
      await rm(folder, { recursive: true, force: true })
      await rm(saidFiles.draftOf(file), { force: true })
    }
  },
})

/**
 * Cuts the clips one after the other. Everybody sees the progress, so it does not contain the search. @returns the
 * paths of the clips, without missing ones @throws unprocessable: there is none
 */
async function cutAll(
  clips: readonly CutClip[],
  folder: string,
  job: JobContext<Payload>,
  app: App,
): Promise<string[]> {
  const paths: string[] = []
  let reason: unknown = errors.unprocessable('None of the video files is available')
  for (const [at, clip] of clips.entries()) {
    const tell = (fraction: number) => {
      const done = (at + fraction) / clips.length
      app.saidFiles.making.set(job.payload.file, done)
      job.progress(done, say`Clip ${{ number: at + 1 }} of ${{ all: clips.length }}`)
    }
    tell(0)
    job.signal.throwIfAborted()
    const path = join(folder, `${at}.ts`)
    try {
      const isCut = await job.step('said.cut', () => cutOne(clip, path, tell, job, app))
      if (isCut) paths.push(path)
    } catch (error) {
      if (!isAppError(error, 'unprocessable')) throw error
      job.log.warn({ err: error, id: clip.id }, 'a clip is left out')
      reason = error
    }
  }
  if (paths.length === 0) throw reason
  return paths
}

const SIZE = '1280:720'
const PICTURE = `scale=${SIZE}:force_original_aspect_ratio=decrease:force_divisible_by=2,pad=${SIZE}:-1:-1,setsar=1,fps=30`
const ENCODED = [
  ...['-c:v', 'libx264', '-preset', 'veryfast', '-crf', '23', '-pix_fmt', 'yuv420p'],
  ...['-c:a', 'aac', '-b:a', '128k', '-ac', '2', '-ar', '48000'],
]

/**
 * A film without a picture gets a black one, a film without sound gets silence.
 * @returns false: the film is missing, or ends before the clip
 */
async function cutOne(
  { id, start, end }: CutClip,
  to: string,
  tell: (fraction: number) => void,
  job: JobContext<Payload>,
  { videos, media }: App,
): Promise<boolean> {
  const doc = await videos.get(id)
  const path = doc && (await media.filmPath(doc.channel_id, id).catch(() => undefined))
  if (path === undefined || !(await media.isThere(path))) return false
  const streams = await media.streamsIn(path, job.signal)
  const video = streams.find(({ type, isPicture }) => type === 'video' && !isPicture)
  const audio = streams.find(({ type }) => type === 'audio')
  const seconds = end - start
  const inputs = [
    ...['-ss', String(start), '-t', String(seconds), ...filmInput(path)],
    ...(video ? [] : ['-t', String(seconds), ...madeInput('color=c=black:s=1280x720:r=30')]),
    ...(audio ? [] : ['-t', String(seconds), ...madeInput('anullsrc=r=48000:cl=stereo')]),
  ]
  const maps = ['-map', video ? `0:${video.index}` : '1:v', '-map', audio ? `0:${audio.index}` : '1:a']
  const output = ['-vf', PICTURE, ...ENCODED, '-shortest', '-map_metadata', '-1', '-f', 'mpegts', '-y', `file:${to}`]
  await media.ffmpeg([...inputs, ...maps, ...output], {
    signal: job.signal,
    isBehind: true,
    onSeconds: (done) => tell(Math.min(1, done / seconds)),
  })
  return (await stat(to)).size > 0
}

/** Joins the clips by copying their streams, because all were encoded in the same way. */
async function joinClips(paths: readonly string[], folder: string, job: JobContext<Payload>, app: App): Promise<void> {
  const list = join(folder, 'list.txt')
  await writeFile(list, paths.map((path) => `file ${basename(path)}\n`).join(''))
  const args = [...joinedInput(list), '-c', 'copy', '-bsf:a', 'aac_adtstoasc']
  await app.media.toMp4(args, app.saidFiles.beginDraft(job.payload.file), { signal: job.signal, isBehind: true })
}
