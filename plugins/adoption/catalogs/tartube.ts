/**
 * Reads Tartube's database: its JSON export, or the pickle that it works with. Each video refers to its file and to the
 * channel, playlist or folder that contains it.
 */
import { say } from 'archivolt'
import { fieldsOf, isPickled, type Pickled, pickleAt } from '../../film-kit/pickle.ts'
import {
  channelOrHandleIn,
  flagOf,
  given,
  idInAddress,
  numberOf,
  objectOf,
  playlistInAddress,
  textOf,
} from '../../film-kit/values.ts'
import { jsonIn, wholeFile } from './files.ts'
import { type CatalogKind, type CatalogTake, NoCatalog } from './types.ts'

const IS_EXPORT = /(?:^|\/)(?=[^/]*tartube)(?=[^/]*export)[^/]*\.json$/i
const IS_DATABASE = /(?:^|\/)tartube\.db$/i
/** Maximum depth of nested folders. */
const DEEPEST = 30

/** A channel, playlist or folder that contains a video. */
interface Container {
  type: string
  name: string
  source: string
}

/** The channel, with its id if the channel's URL contains one; a handle is not an id. */
const channelOf = ({ type, name, source }: Container): Record<string, unknown> => {
  const id = type === 'channel' ? channelOrHandleIn(source) : undefined
  return type === 'channel' ? { channel: name, ...(id !== undefined && !id.startsWith('@') && { channel_id: id }) } : {}
}

/** @param path  absolute, or relative to Tartube's own folder */
function takeVideo(video: Record<string, unknown>, container: Container, path: string, take: CatalogTake): void {
  const id = idInAddress(video.source) ?? textOf(video.vid)
  const uploaded = numberOf(video.upload_time)
  const info = {
    ...{ id, title: video.nickname ?? video.name, description: video.descrip },
    ...channelOf(container),
    ...{ timestamp: uploaded, duration: numberOf(video.duration), epoch: numberOf(video.receive_time) },
  }
  take.film({ id, path, info: given(info) })
  if (video.archive_flag === true) take.along({ kind: 'keep', id })
  // A downloaded video is new until somebody has watched it.
  if (video.dl_flag === true && video.new_flag === false) take.along({ kind: 'watched', id, owner: '' })
}

function takeContainer({ type, name, source }: Container, take: CatalogTake): void {
  const id =
    type === 'playlist' ? playlistInAddress(source) : type === 'channel' ? channelOrHandleIn(source) : undefined
  if (id !== undefined) take.along({ kind: type === 'playlist' ? 'playlist' : 'channel', id, name })
}

function readExport(path: string, take: CatalogTake): void {
  const whole = objectOf(jsonIn(path))
  if (whole.script_name !== 'tartube' || whole.file_type !== 'db_export') throw new NoCatalog('It is a different list')
  const takeAll = (list: unknown, above: readonly string[], container: Container): void => {
    if (above.length > DEEPEST) return
    for (const one of Object.values(objectOf(list)).map(objectOf)) {
      const [type, name, source] = [textOf(one.type), textOf(one.name), textOf(one.source)]
      if (type === 'video') {
        if (textOf(one.file) !== '') takeVideo(one, container, [...above, textOf(one.file)].join('/'), take)
        continue
      }
      const inner = { type, name, source }
      takeContainer(inner, take)
      takeAll(one.db_dict, [...above, name], inner)
    }
  }
  takeAll(whole.db_dict, [], { type: '', name: '', source: '' })
}

const kindOf = ({ kind }: Pickled): string => kind.slice(kind.lastIndexOf('.') + 1).toLowerCase()

function readDatabase(path: string, take: CatalogTake): void {
  const whole = fieldsOf(pickleOf(wholeFile(path)))
  const all = whole.media_reg_dict
  if (!(all instanceof Map)) throw new NoCatalog('It contains no list of videos')
  const containers = whole.container_reg_dict instanceof Map ? whole.container_reg_dict : all
  const containerOf = (object: unknown): Container => {
    const { name, source } = fieldsOf(object)
    return { type: isPickled(object) ? kindOf(object) : '', name: textOf(name), source: textOf(source) }
  }
  /** The folder of an object's files, which may be that of another object, or anywhere on the disk. */
  const folderOf = (object: unknown, depth = 0): string => {
    const { name, parent_obj: parent, external_dir: elsewhere, dbid, master_dbid: master } = fieldsOf(object)
    if (depth > DEEPEST || name === undefined) return ''
    if (textOf(elsewhere) !== '') return textOf(elsewhere)
    if (master !== undefined && master !== dbid) return folderOf(containers.get(master), depth + 1)
    return [isPickled(parent) ? folderOf(parent, depth + 1) : '', textOf(name)].filter(Boolean).join('/')
  }
  for (const object of new Set([...all.values(), ...containers.values()])) {
    if (!isPickled(object)) continue
    const fields = fieldsOf(object)
    if (kindOf(object) !== 'video') {
      if (!flagOf(fields.dl_disable_flag)) takeContainer(containerOf(object), take)
      continue
    }
    const file = `${textOf(fields.file_name)}${textOf(fields.file_ext)}`
    if (textOf(fields.file_name) === '' || fields.dl_flag === false) continue
    const folder = folderOf(fields.parent_obj)
    takeVideo(fields, containerOf(fields.parent_obj), [folder, file].filter(Boolean).join('/'), take)
  }
}

function pickleOf(bytes: Buffer): unknown {
  try {
    return pickleAt(bytes).value
  } catch (thrown) {
    if (thrown instanceof SyntaxError) throw new NoCatalog('It cannot be read')
    throw thrown
  }
}

export const tartube: CatalogKind = {
  name: 'tartube',
  title: 'Tartube',
  isWithFilms: true,
  find: (files) => [...files.filter((file) => IS_DATABASE.test(file)), ...files.filter((file) => IS_EXPORT.test(file))],

  /** Prefers the database, which has more data; reads the export if the database is damaged or has another format. */
  read({ files }, take) {
    const [database, list] = [IS_DATABASE, IS_EXPORT].map((form) => files.find((file) => form.test(file)))
    let fault: { path: string; error: NoCatalog } | undefined
    for (const [path, read] of [
      [database, readDatabase],
      [list, readExport],
    ] as const) {
      if (path === undefined) continue
      try {
        return read(path, take)
      } catch (thrown) {
        if (!(thrown instanceof NoCatalog)) throw thrown
        fault ??= { path, error: thrown }
      }
    }
    // The folders can be read without the catalog, and information files name most videos.
    if (fault?.path === database)
      take.unread(
        database!,
        say`Tartube’s database cannot be read: in Tartube, export it as JSON into this folder (Media > Export from database), then scan again`,
      )
    else if (fault) throw fault.error
  },
}
