/**
 * Reports at the start which programs named in settings are missing. Without them the archive is still readable, but
 * each download would fail.
 */
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { inEnglish, type Sentence, type Settings, say, sentenceOf } from 'archivolt'
import type { App } from './app.ts'
import { isFile, isProgram, programVersion } from './tools.ts'

const TOLD_SECONDS = 3600

type Named = Pick<Settings, 'ytdlp' | 'ytdlpPlugins' | 'ffmpeg' | 'ffprobe'>

export async function reportMissingPrograms({
  settings,
  log,
  jobs,
}: Pick<App, 'log' | 'jobs'> & { settings: Named }): Promise<void> {
  const lost = await lostPrograms(settings)
  if (lost.length === 0) return
  for (const { path, sentence } of lost) log.error({ path }, inEnglish(sentence))
  const messages = lost.map(({ sentence }) => sentence)
  await jobs.notify({
    title: 'Nothing can be downloaded',
    group: 'setting:application',
    level: 'error',
    messages,
    shownForSeconds: TOLD_SECONDS,
  })
}

interface Lost {
  path: string
  sentence: Sentence
}

/** Checks only programs named in settings; the state's `missing` reports the others. */
async function lostPrograms({ ytdlp, ytdlpPlugins, ffmpeg, ffprobe }: Named): Promise<Lost[]> {
  const lost: Lost[] = []
  const add = (path: string, env: string, what: string) =>
    lost.push({
      path,
      sentence: say`${{ env }} is not the path of ${{ what: sentenceOf(what) }}: correct or remove it, then start again`,
    })
  if (ytdlp !== null && !(await isFile(ytdlp)) && !(await isProgram(join(ytdlp, 'bin', 'python'))))
    add(ytdlp, 'AV_YTDLP', say`a Python venv with yt-dlp or a yt-dlp zip`)
  if (ytdlpPlugins !== null && !(await isFolder(join(ytdlpPlugins, 'yt_dlp_plugins'))))
    add(ytdlpPlugins, 'AV_YTDLP_PLUGINS', say`a folder with yt_dlp_plugins in it`)
  if (ffmpeg !== 'ffmpeg' && !(await isThere(ffmpeg))) add(ffmpeg, 'AV_FFMPEG', say`a program`)
  if (ffprobe !== 'ffprobe' && !(await isThere(ffprobe))) add(ffprobe, 'AV_FFPROBE', say`a program`)
  return lost
}

const isFolder = async (path: string): Promise<boolean> =>
  (await stat(path).catch(() => undefined))?.isDirectory() ?? false

/** Checks a path directly; searches a plain name on PATH. */
const isThere = async (program: string): Promise<boolean> =>
  program.includes('/')
    ? (await isFile(program)) && (await isProgram(program))
    : (await programVersion(program)) !== undefined
