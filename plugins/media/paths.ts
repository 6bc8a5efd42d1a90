/** Paths and URLs of files. Only ids and language codes that pass the checks here become part of a path. */
import { join } from 'node:path'
import { errors, idInName, isId } from 'archivolt'
import { type Ending, isEnding, OWN_ENDING, type OwnEnding } from './containers.ts'
import type { ArtKind } from './types.ts'

const LANG = /^[A-Za-z0-9-]{1,35}$/

/** Kinds of pictures by file suffix: the folder alone does not distinguish a channel's three pictures. */
const CHANNEL_ENDINGS = { channel_thumb: '_thumb', channel_banner: '_banner', channel_tvart: '_tvart' } as const

export const isLanguage = (text: string): boolean => LANG.test(text)

function checked(id: string): string {
  if (!isId(id)) throw errors.badRequest('an ID must consist of at most 128 letters, digits, - and _')
  return id
}

function checkedLang(lang: string): string {
  if (!isLanguage(lang)) throw errors.badRequest('a language code must consist of at most 35 letters, digits and -')
  return lang
}

export const mediaName = (videoId: string, ending: Ending = OWN_ENDING): string => `${checked(videoId)}.${ending}`
export const subtitleName = (videoId: string, lang: string): string => `${checked(videoId)}.${checkedLang(lang)}.vtt`

/** The file of a request below `/media/<channel>/`; undefined: not a valid name. */
export function parseMediaName(
  name: string,
): { videoId: string; ending: Ending } | { videoId: string; lang: string } | undefined {
  const [videoId = '', word = '', ...endings] = name.split('.')
  if (!isId(videoId)) return undefined
  if (endings.length === 0) return isEnding(word) ? { videoId, ending: word } : undefined
  return endings.join('.') === 'vtt' && isLanguage(word) ? { videoId, lang: word } : undefined
}

export type ArtFolder = 'videos' | 'channels' | 'playlists'

/** The file of a request below `/cache/<folder>/`; undefined: not a valid name. */
export function parseArtName(folder: ArtFolder, name: string): { kind: ArtKind; id: string } | undefined {
  const stem = idInName(name, '.jpg')
  if (stem === undefined) return undefined
  if (folder === 'videos') return { kind: 'video', id: stem }
  if (folder === 'playlists') return { kind: 'playlist', id: stem }
  for (const [kind, ending] of Object.entries(CHANNEL_ENDINGS) as Array<[keyof typeof CHANNEL_ENDINGS, string]>) {
    const id = stem.slice(0, -ending.length)
    if (stem.endsWith(ending) && isId(id)) return { kind, id }
  }
  return undefined
}

/** `videos/a/aB3.jpg`: below the pictures' folder on disk, and below `/cache/` in URLs. */
export function artPath(kind: ArtKind, id: string): string {
  if (kind === 'video') return `videos/${checked(id).charAt(0).toLowerCase()}/${id}.jpg`
  if (kind === 'playlist') return `playlists/${checked(id)}.jpg`
  return `channels/${checked(id)}${CHANNEL_ENDINGS[kind]}.jpg`
}

/** Narrower versions of a picture, by their width in pixels. */
export const VARIANT_WIDTHS = { small: 320, medium: 640, large: 960 } as const
export type Variant = keyof typeof VARIANT_WIDTHS
export const VARIANTS = Object.keys(VARIANT_WIDTHS) as Variant[]
/** Path of a narrower version. Ids contain no dot, so it cannot be the name of another picture. */
export const variantPath = (path: string, variant: Variant): string => path.replace(/\.jpg$/, `.${variant}.jpg`)
/** The widths that are made: avatars and banners of channels are only shown small or in full width. */
export const variantsOf = (kind: ArtKind): Variant[] => (kind.startsWith('channel') ? ['small'] : VARIANTS)

const UUID_LENGTH = 36
/** A job that removes many videos has several trashes: their names begin with its id. */
export const jobOfTrash = (trashId: string): string => trashId.slice(0, UUID_LENGTH)

const RECORD = '.belongings.json'
/** Name of a channel's record. No id begins with a dot, so it belongs to no video. */
export const CHANNEL_RECORD = '.channel.json'
/** Name of the file in the trash with the belongings of a removed video or of its channel. */
export const recordOf = (videoId?: string): string =>
  videoId === undefined ? CHANNEL_RECORD : `${checked(videoId)}${RECORD}`
/** Whether a file in the trash is a record, which is never moved back. */
export const isRecord = (name: string): boolean => name === CHANNEL_RECORD || name.endsWith(RECORD)

export function openPaths(mediaDir: string, cacheDir: string) {
  return {
    mediaDir,
    cacheDir,
    stagingDir: join(mediaDir, '.staging'),
    trashDir: join(mediaDir, '.trash'),
    incomingDir: join(cacheDir, '.incoming'),
    channelFolder: (channelId: string) => join(mediaDir, checked(channelId)),
    pathOf: (channelId: string, videoId: string, ending?: OwnEnding) =>
      join(mediaDir, checked(channelId), mediaName(videoId, ending)),
    subtitlePathOf: (channelId: string, videoId: string, lang: string) =>
      join(mediaDir, checked(channelId), subtitleName(videoId, lang)),
    stagingOf: (videoId: string) => join(mediaDir, '.staging', checked(videoId)),
    trashOf: (jobId: string) => join(mediaDir, '.trash', checked(jobId)),
    /** Staging in the folder of a channel on another disk, because only a rename within a disk is atomic. */
    stagingIn: (channelId: string) => join(mediaDir, checked(channelId), '.staging'),
    trashIn: (channelId: string) => join(mediaDir, checked(channelId), '.trash'),
    artOf: (kind: ArtKind, id: string) => join(cacheDir, artPath(kind, id)),
    mediaUrl: (channelId: string, videoId: string, ending?: Ending) =>
      `/media/${checked(channelId)}/${mediaName(videoId, ending)}`,
    subtitleUrl: (channelId: string, videoId: string, lang: string) =>
      `/media/${checked(channelId)}/${subtitleName(videoId, lang)}`,
    artUrl: (kind: ArtKind, id: string) => `/cache/${artPath(kind, id)}`,
  }
}
export type Paths = ReturnType<typeof openPaths>
