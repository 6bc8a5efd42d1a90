/**
 * The reader for folders of yt-dlp and similar programs. It identifies a video by its information file, by the id in
 * the name, or by the tags of the film.
 */

import { isBlank, say, type Words } from 'archivolt'
import { bracketsIn, furtherWordsIn, isLikeId, wordsIn } from '../film-kit/ids.ts'
import { pathIn, sidecarPath } from '../film-kit/names.ts'
import type { FoundFile, Info, Listed, Look, Problem } from '../film-kit/types.ts'
import { textOf } from '../film-kit/values.ts'
import type { Facts, Finding, FoundVideo, PlaceReader, PlaceTools } from '../library/reader.ts'
import { channelOfFolder } from './catalogs/tubearchivist-folder.ts'
import { hasTitle, idInNfo, isPlaylist, toldOf } from './combine-sources.ts'

const ID_LENGTH = 11
const CHANNEL_ID = /^UC[A-Za-z0-9_-]{22}$/
const LONGEST_LINE = 500
const SIGNS = [/\.info\.json(?:\.gz)?$/i, /(?:^|\/)archive\.txt$/i]
const HAS_ID = /\[[A-Za-z0-9_-]{11}\]\.[a-z0-9]+$/i
/** Minimum share of names with an id, because a folder of home videos may contain a downloaded one. */
const LEAST_SHARE_WITH_ID = 0.2
/** Minimum share of names with an id outside of brackets, where a word of a title may look like an id. */
const LEAST_SHARE_WITH_LIKELY_ID = 0.5

/** A text as one line for people, without control characters: direction marks could disguise a text. */
function lineOf(value: unknown): string {
  const line = textOf(value)
    .slice(0, LONGEST_LINE)
    .replace(/[\p{Cc}\u202a-\u202e\u2066-\u2069\s]+/gu, ' ')
    .trim()
  return isBlank(line) ? '' : line
}

type FilmLook = Extract<Look, { isFilm: true }>

const isIdIn = (word: string, tools: PlaceTools): boolean => word.length === ID_LENGTH && tools.videoIn(word) === word

const inBrackets = (base: string, tools: PlaceTools): string | undefined =>
  bracketsIn(base).find((word) => isIdIn(word, tools))

/** The id in a file name of TubeArchivist: the name is the id, in the folder of its channel. */
const asWhole = ({ base, folder }: FoundFile, tools: PlaceTools): string | undefined =>
  channelOfFolder(folder) !== undefined && isIdIn(base, tools) ? base : undefined

/** The first id in the file name, or in the name of the folder that contains the film. */
const inName = ({ base, folder }: Pick<FoundFile, 'base' | 'folder'>, tools: PlaceTools): string | undefined =>
  [...wordsIn(base), ...furtherWordsIn(base), ...furtherWordsIn(folder.slice(folder.lastIndexOf('/') + 1))].find(
    (word) => isIdIn(word, tools),
  )

/** Whether the path of a file has a likely id in its name or in its folder. */
function hasLikelyId(path: string): boolean {
  const [base = '', folder = ''] = path
    .replace(/\.[^./]+$/, '')
    .split('/')
    .reverse()
  return [...furtherWordsIn(base), ...furtherWordsIn(folder)].some(isLikeId)
}

/** The id in a path. For files other than films, only an id in brackets counts. */
export const idInPath = (path: string, tools: PlaceTools): string | undefined =>
  inBrackets(path.slice(path.lastIndexOf('/') + 1).normalize('NFC'), tools)

/** Whether the video is of another platform; undefined: unknown. */
function isForeign(info: Info, tools: PlaceTools): boolean | undefined {
  const extractor = textOf(info.extractor_key) || textOf(info.extractor)
  return extractor === '' ? undefined : extractor.toLowerCase() !== tools.extractor
}

function toVideo(file: FoundFile, id: string, isGuess: boolean, tools: PlaceTools, info?: Info): FoundVideo {
  const metadata = info && tools.metadataOf({ ...info, id }, id)
  // Before 2018, the file could name a channel only by its user: then the platform is asked for the id.
  const isTold =
    metadata?.title !== undefined && (metadata.channelId !== info?.uploader_id || CHANNEL_ID.test(metadata.channelId))
  return {
    file,
    id,
    isGuess,
    ...(metadata && { channelId: metadata.channelId }),
    ...(!isTold && { isBare: true }),
    title: lineOf(info?.title) || lineOf(file.base),
    ...(typeof info?.channel === 'string' && { channelName: lineOf(info.channel) }),
  }
}

async function findingOf(file: FoundFile, look: Look, tools: PlaceTools): Promise<Finding> {
  const path = pathIn(file.folder, file.name)
  const named = inName(file, tools)
  const only = (problem: Problem): Finding => ({ problems: [problem] })
  if (!look.isFilm) return only({ code: look.code, path, why: look.why, id: named })
  if (look.listed) return listedFinding(file, look, look.listed, tools)
  const beside = file.info === undefined ? path : sidecarPath(file.folder, file.info)
  const { info, fault } = look
  if (info && !isPlaylist(info) && isForeign(info, tools))
    return only({ code: 'foreign_platform', path, why: isFrom(textOf(info.extractor)) })
  const told = info && !isPlaylist(info) ? textOf(info.id) : ''
  const bracketed = inBrackets(file.base, tools) ?? asWhole(file, tools)
  const isItsOwn = bracketed === undefined ? isNear(file) || hasTitle(file.base, info?.title) : bracketed === told
  if (told !== '' && tools.videoIn(told) === told && isItsOwn)
    return { video: toVideo(file, told, false, tools, toldOf(file, look, told, tools)), problems: [] }

  const byNfo = idInNfo(look.nfo, tools)
  if (byNfo !== undefined && (bracketed === undefined || bracketed === byNfo)) {
    const faults = fault === undefined ? [] : [unreadable(beside, fault, byNfo)]
    return { video: toVideo(file, byNfo, false, tools, toldOf(file, look, byNfo, tools)), problems: faults }
  }

  const problems: Problem[] = []
  const withId = named === undefined ? {} : { id: named }
  if (fault !== undefined) problems.push(unreadable(beside, fault, named))
  if (told !== '' && told !== named && isNear(file))
    problems.push({
      code: 'foreign_sidecar',
      path: beside,
      why:
        file.info === undefined
          ? say`the tags in the file are about another video`
          : say`the information file is about another video`,
      ...withId,
    })
  else if (byNfo !== undefined)
    problems.push({
      code: 'foreign_sidecar',
      path: sidecarPath(file.folder, file.nfo!),
      why: say`it is about another video`,
      ...withId,
    })
  const { info: _unused, nfo, ...alone } = file
  const bare = { ...alone, ...(nfo !== undefined && byNfo === undefined && { nfo }) }
  if (named !== undefined) return { video: byName(bare, look, named, tools), problems }
  const tagged = await tools.idInTags(file)
  if (tagged !== undefined) return { video: await withLoneInfo(bare, look, tagged, tools), problems }
  problems.push({
    code: 'no_id',
    path,
    file,
    why: say`couldn’t tell which video this is (no ID in its name, tags or .info.json)`,
  })
  return { problems }
}

/** Whether the information file is in the folder of the film: one in another folder was matched only by its name. */
const isNear = ({ info }: FoundFile): boolean => info?.startsWith('..') !== true && !/^[^.].*\//.test(info ?? '')

/** A video identified by the file name, which is a guess unless TubeArchivist named the file. */
function byName(file: FoundFile, look: FilmLook, id: string, tools: PlaceTools): FoundVideo {
  const isTubeArchivists = asWhole(file, tools) === id && channelOfFolder(file.folder) !== undefined
  return toVideo(file, id, !isTubeArchivists, tools, toldOf(file, look, id, tools))
}

const unreadable = (path: string, why: Words, id: string | undefined): Problem => ({
  code: 'unreadable_sidecar',
  path,
  why,
  id,
})

const MOVED = say`it is not where the database says; it was found by its ID`
const isFrom = (name: string): Words =>
  name === '' ? say`it is from another platform` : say`it is from ${{ platform: lineOf(name) }}`
const said = (id: string): Words =>
  id === '' ? say`its information file names no video` : say`its information file says ${{ video: lineOf(id) }}`

/** A video identified by the catalog of the place, which takes precedence. */
function listedFinding(file: FoundFile, look: FilmLook, listed: Listed, tools: PlaceTools): Finding {
  const [path, { id }, { info }] = [pathIn(file.folder, file.name), listed, look]
  if (listed.extractor !== undefined && listed.extractor !== tools.extractor)
    return { problems: [{ code: 'foreign_platform', path, why: isFrom(listed.extractor) }] }
  const told = info && !isPlaylist(info) ? textOf(info.id) : ''
  if (tools.videoIn(id) !== id || (told !== '' && told !== id))
    return {
      problems: [{ code: 'ambiguous_id', path, id, why: said(told) }],
    }
  const { wasMoved, isStored, isPart, picture } = listed
  const withPicture = picture === undefined || file.picture !== undefined ? file : { ...file, picture }
  return {
    video: {
      // If the catalog gives a file several ids, the result is a guess.
      ...toVideo(withPicture, id, listed.others.length > 0, tools, toldOf(file, look, id, tools)),
      isListed: isStored,
      isPart,
    },
    problems: [
      ...(wasMoved ? [{ code: 'moved_file' as const, path, id, why: MOVED }] : []),
      ...listed.others.map((other) => ({
        code: 'ambiguous_id' as const,
        path,
        id: other,
        why: say`it may also be ${{ video: id }}`,
      })),
    ],
  }
}

/** Finds the information file of a renamed film, which still has the old name with the id. */
async function withLoneInfo(file: FoundFile, look: FilmLook, id: string, tools: PlaceTools): Promise<FoundVideo> {
  const plain = toVideo(file, id, false, tools, toldOf(file, look, id, tools))
  const name = file.lone?.find((one) => inBrackets(one.normalize('NFC'), tools) === id)
  if (name === undefined) return plain
  const renamed = { ...file, info: name }
  const [seen] = await tools.look([renamed])
  const isItsOwn = seen?.isFilm === true && seen.info?.id === id
  return isItsOwn ? toVideo(renamed, id, false, tools, toldOf(renamed, seen, id, tools)) : plain
}

const bitrateOf = (value: unknown): number =>
  typeof value === 'number' && value > 0 && value < 1e9 ? Math.round(value * 1000) : 0
const sizeOf = (value: unknown): number =>
  typeof value === 'number' && value > 0 && value < 1e5 ? Math.round(value) : 0

/** Codec strings, such as `avc1.64001f` for h264. */
const CODECS: ReadonlyArray<readonly [RegExp, string]> = [
  [/^avc[13]/, 'h264'],
  [/^h(?:ev|vc)1/, 'hevc'],
  [/^av01/, 'av1'],
  [/^vp0?9/, 'vp9'],
  [/^vp0?8/, 'vp8'],
  [/^mp4a/, 'aac'],
]
function codecOf(value: unknown): string {
  const text = textOf(value)
  if (text === '' || text === 'none') return ''
  return CODECS.find(([form]) => form.test(text))?.[1] ?? text.split('.', 1)[0]!.slice(0, 40)
}

function streamsOf(info: Info): Facts['streams'] {
  const [video, audio] = [codecOf(info.vcodec), codecOf(info.acodec)]
  const streams: NonNullable<Facts['streams']> = []
  if (video !== '')
    streams.push({
      type: 'video',
      codec: video,
      bitrate: bitrateOf(info.vbr ?? info.tbr),
      width: sizeOf(info.width),
      height: sizeOf(info.height),
    })
  if (audio !== '') streams.push({ type: 'audio', codec: audio, bitrate: bitrateOf(info.abr) })
  return streams.length > 0 ? streams : undefined
}

export const ytdlpReader: PlaceReader = {
  name: 'yt-dlp',
  title: 'yt-dlp',
  recognise(names) {
    const share = (is: (name: string) => boolean) => names.filter(is).length / names.length
    const isOne =
      names.some((name) => SIGNS.some((sign) => sign.test(name))) ||
      share((name) => HAS_ID.test(name)) > LEAST_SHARE_WITH_ID ||
      share(hasLikelyId) > LEAST_SHARE_WITH_LIKELY_ID
    return isOne ? 0.5 : 0.1
  },

  async read(files, tools) {
    const looks = await tools.look(files)
    const findings: Finding[] = []
    for (const [at, file] of files.entries()) findings.push(await findingOf(file, looks[at]!, tools))
    return findings
  },

  factsOf: async (films, tools) =>
    films.map(({ id, info }) => {
      const metadata = info && tools.metadataOf(info, id)
      if (!metadata) return undefined
      const streams = streamsOf(info)
      const epoch = typeof info.epoch === 'number' && info.epoch > 0 ? Math.floor(info.epoch) : undefined
      return {
        metadata,
        downloadedAt: epoch,
        streams,
        ...(info.is_gone === true && { isGone: true }),
      }
    }),
}
