/**
 * Programs that a setting names and that are not there: told at the start. Reads go on; downloads would fail one by
 * one.
 */
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Settings } from 'archivolt'
import type { App } from './app.ts'
import { isFile, isProgram, programVersion } from './tools.ts'

const TOLD_SECONDS = 3600

type Named = Pick<Settings, 'ytdlp' | 'ytdlpPlugins' | 'ffmpeg' | 'ffprobe'>

export async function tellLostPrograms({
  settings,
  log,
  jobs,
}: Pick<App, 'log' | 'jobs'> & { settings: Named }): Promise<void> {
  const lost = await lostPrograms(settings)
  if (lost.length === 0) return
  for (const { path, sentence } of lost) log.error({ path }, sentence)
  const messages = lost.map(({ sentence }) => sentence)
  await jobs.notify({
    title: 'Nothing can be downloaded',
    group: 'setting:application',
    level: 'error',
    messages,
    shownForSeconds: TOLD_SECONDS,
  })
}

/** Where nothing is set, there is nothing to correct: `missing` of the state tells. */
async function lostPrograms({
  ytdlp,
  ytdlpPlugins,
  ffmpeg,
  ffprobe,
}: Named): Promise<Array<{ path: string; sentence: string }>> {
  const lost: Array<{ path: string; sentence: string }> = []
  const add = (path: string, env: string, what: string) =>
    lost.push({ path, sentence: `${env} does not lead to ${what}: correct or remove it, then start again` })
  if (ytdlp !== null && !(await isFile(ytdlp)) && !(await isProgram(join(ytdlp, 'bin', 'python'))))
    add(ytdlp, 'AV_YTDLP', 'a Python venv with yt-dlp or a yt-dlp zip')
  if (ytdlpPlugins !== null && !(await isFolder(join(ytdlpPlugins, 'yt_dlp_plugins'))))
    add(ytdlpPlugins, 'AV_YTDLP_PLUGINS', 'a folder with yt_dlp_plugins in it')
  if (ffmpeg !== 'ffmpeg' && !(await isThere(ffmpeg))) add(ffmpeg, 'AV_FFMPEG', 'a program')
  if (ffprobe !== 'ffprobe' && !(await isThere(ffprobe))) add(ffprobe, 'AV_FFPROBE', 'a program')
  return lost
}

const isFolder = async (path: string): Promise<boolean> =>
  (await stat(path).catch(() => undefined))?.isDirectory() ?? false

/** A path is looked at; a mere name is looked for where the system looks for it. */
const isThere = async (program: string): Promise<boolean> =>
  program.includes('/')
    ? (await isFile(program)) && (await isProgram(program))
    : (await programVersion(program)) !== undefined
