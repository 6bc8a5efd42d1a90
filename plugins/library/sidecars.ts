/** What lies in the import folder: films, and beside each what belongs to it by its name. */
import { constants } from 'node:fs'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { abortable, errors } from 'archivolt'
import { entriesOf, plainFile } from './disk.ts'

/** Folders in folders, but not without end. */
const DEEPEST = 5
const MOST_INFO_BYTES = 64 << 20
const MOST_SUBTITLE_BYTES = 32 << 20
const MOST_PICTURE_BYTES = 20 << 20
const INFO_LIMIT_MS = 30_000

const FILM = /^(.+)\.(?:mp4|mkv|webm|m4v|mov|avi|flv|wmv|mpe?g|ts|m2ts|3gp|ogv)$/i
/** Left by a download that was cut off. */
const UNFINISHED = /\.(?:f\d{1,5}(?:-\d+)?|temp)$/
const INFO = /^(.+)\.info\.json$/i
const PICTURE = /^(.+)\.(?:jpe?g|png|webp)$/i
const SUBTITLE = /^(.+)\.([A-Za-z0-9_-]{2,35})\.(vtt|srt)$/i

export interface ImportFile {
  folder: string
  /** Of the film, as it is on disk. */
  name: string
  /** The name without its ending. */
  base: string
  info?: string
  picture?: string
  /** One a language. */
  subtitles: Array<{ name: string; lang: string; isSubRip: boolean }>
}

type Beside = Pick<ImportFile, 'info' | 'picture'> & {
  subtitles: Map<string, { name: string; lang: string; isSubRip: boolean }>
}

/** Films of a folder and of the folders in it, folder by folder. Links are not followed: they may lead anywhere. */
export async function* filesToImport(folder: string, depth = 0): AsyncGenerator<ImportFile> {
  const films: Array<{ name: string; base: string }> = []
  const folders: string[] = []
  const beside = new Map<string, Beside>()
  const besideOf = (base: string): Beside => {
    const found = beside.get(base) ?? { subtitles: new Map() }
    beside.set(base, found)
    return found
  }
  for await (const entry of entriesOf(folder)) {
    const { name } = entry
    if (entry.isDirectory()) folders.push(name)
    if (!entry.isFile()) continue
    const [, film] = FILM.exec(name) ?? []
    const [, info] = INFO.exec(name) ?? []
    const [, picture] = PICTURE.exec(name) ?? []
    const [, subtitle, code = '', kind] = SUBTITLE.exec(name) ?? []
    if (film !== undefined && !UNFINISHED.test(film)) films.push({ name, base: film })
    if (info !== undefined) besideOf(info).info = name
    if (picture !== undefined) besideOf(picture).picture ??= name
    if (subtitle !== undefined) {
      const { subtitles } = besideOf(subtitle)
      const [lang, isSubRip] = [code.replaceAll('_', '-'), kind?.toLowerCase() === 'srt']
      if (!isSubRip || !subtitles.has(lang)) subtitles.set(lang, { name, lang, isSubRip })
    }
  }
  for (const { name, base } of films) {
    const { info, picture, subtitles = new Map() } = beside.get(base) ?? {}
    yield {
      folder,
      name,
      base,
      info,
      picture,
      subtitles: [...subtitles.values()],
    }
  }
  if (depth < DEEPEST) for (const name of folders) yield* filesToImport(join(folder, name), depth + 1)
}

/** Of a file that is not there, empty, too large, or a link meanwhile: false. */
export async function isPicture(path: string): Promise<boolean> {
  const found = await plainFile(path)
  return found !== undefined && found.sizeBytes > 0 && found.sizeBytes <= MOST_PICTURE_BYTES
}

/** @throws unprocessable: it is no text, or one without a single cue */
export async function readSubtitle(path: string, lang: string): Promise<string> {
  const found = await plainFile(path)
  if (!found || found.sizeBytes > MOST_SUBTITLE_BYTES)
    throw errors.unprocessable('it is too large for subtitles, or no longer a file')
  const handle = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW)
  try {
    return withCues(toText(await handle.readFile(), lang))
  } finally {
    await handle.close()
  }
}

/**
 * Looks at subtitles that lie in the library, piece by piece.
 * @returns why they are none; undefined: they are
 */
export async function faultOfSubtitle(path: string): Promise<string | undefined> {
  const found = await plainFile(path)
  if (!found || found.sizeBytes > MOST_SUBTITLE_BYTES) return 'it is too large for subtitles, or no longer a file'
  const handle = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW)
  let before = ''
  try {
    for await (const piece of handle.createReadStream({
      encoding: 'latin1',
      end: MOST_SUBTITLE_BYTES - 1,
      autoClose: false,
    })) {
      if (`${before}${piece}`.includes(ARROW)) return undefined
      before = String(piece).slice(1 - ARROW.length)
    }
  } finally {
    await handle.close()
  }
  return NO_CUES
}

const ARROW = '-->'
const NO_CUES = 'it has no subtitles'

/** @throws unprocessable */
export function withCues(text: string): string {
  if (!text.includes(ARROW)) throw errors.unprocessable(NO_CUES)
  return text
}

/** Languages whose letters are all in Windows-1252, which begins with Latin-1. */
const WESTERN = new Set(
  'af ca da de en es eu fi fo fr fy ga gd gl id is it lb ms nb nl nn no pt rm sq sv sw'.split(' '),
)

/**
 * @throws unprocessable: it is neither Unicode nor what is used for the language beside it: a wrong guess would spoil
 * the text for good
 */
function toText(bytes: Buffer, lang: string): string {
  const mark = bytes.toString('hex', 0, 2)
  if (mark === 'fffe' || mark === 'feff')
    return new TextDecoder(mark === 'fffe' ? 'utf-16le' : 'utf-16be').decode(bytes)
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch (cause) {
    if (WESTERN.has(languageOf(lang))) return new TextDecoder('windows-1252').decode(bytes)
    throw errors.unprocessable('its characters are of an unknown encoding; save it as UTF-8', { cause })
  }
}

function languageOf(lang: string): string {
  try {
    return new Intl.Locale(lang).language
  } catch {
    return lang // not a tag of the standard
  }
}

const KEPT = [
  'id',
  'title',
  'description',
  'channel_id',
  'channel',
  'uploader',
  'uploader_id',
  'timestamp',
  'release_timestamp',
  'upload_date',
  'release_date',
  'duration',
  'tags',
  'categories',
  'chapters',
  'view_count',
  'like_count',
  'average_rating',
  'thumbnails',
  'live_status',
  'was_live',
  'media_type',
  'webpage_url',
]

/**
 * Such a file holds every format and comment, and anybody may have written it: it is parsed beside the event loop,
 * within limits.
 */
const PARSER = `
const { parentPort, workerData: { path, kept } } = require('node:worker_threads')
const { openSync, readFileSync, constants } = require('node:fs')
const info = JSON.parse(readFileSync(openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW), 'utf8'))
const short = (value) => (typeof value === 'string' ? value.slice(0, 100000) : Array.isArray(value) ? value.slice(0, 1000).map(flat) : value)
const flat = (value) => (value && typeof value === 'object' ? Object.fromEntries(Object.entries(value).slice(0, 20).filter(([, one]) => typeof one !== 'object').map(([key, one]) => [key, short(one)])) : short(value))
const isRecord = info && typeof info === 'object' && !Array.isArray(info)
parentPort.postMessage(isRecord ? Object.fromEntries(kept.filter((key) => Object.hasOwn(info, key)).map((key) => [key, Array.isArray(info[key]) || typeof info[key] !== 'object' ? short(info[key]) : undefined])) : undefined)
`

/** @throws unprocessable: it is no such file */
export async function readInfo(path: string): Promise<Record<string, unknown>> {
  const found = await plainFile(path)
  const refuse = (cause?: unknown) => errors.unprocessable('its information file cannot be read', { cause })
  if (!found || found.sizeBytes > MOST_INFO_BYTES) throw refuse()
  const worker = new Worker(PARSER, {
    eval: true,
    workerData: { path, kept: KEPT },
    resourceLimits: { maxOldGenerationSizeMb: 512, stackSizeMb: 4 },
  })
  const limit = AbortSignal.timeout(INFO_LIMIT_MS)
  try {
    return await abortable<Record<string, unknown>>(limit, (resolve, reject) => {
      worker.once('message', (info: Record<string, unknown> | undefined) => (info ? resolve(info) : reject(undefined)))
      worker.once('error', reject)
      worker.once('exit', () => reject(undefined))
    })
  } catch (cause) {
    throw refuse(cause)
  } finally {
    await worker.terminate()
  }
}
