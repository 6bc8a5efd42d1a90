/** The content of sidecars, and its validation, because anybody may have written them. */
import { createHash } from 'node:crypto'
import { constants } from 'node:fs'
import { open } from 'node:fs/promises'
import { errors, faultIn, type Static, say, Type } from 'archivolt'

/** Version of the format. Increased when older versions of the program cannot use new sidecars. */
const VERSION = 1
/** Maximum size of a sidecar, which consists mostly of comments: a larger file was not written by the archive. */
const MOST_BYTES = 64 << 20
const MOST_PICTURE = 8 << 20

/** The id of the only record of accounts and preferences. */
export const ARCHIVE = 'archive'

export type Kind = 'video' | 'channel' | 'playlist' | 'archive'

const Picture = Type.String({ maxLength: MOST_PICTURE, pattern: '^[A-Za-z0-9+/]*={0,2}$' })
const Name = Type.String({ minLength: 1, maxLength: 150 })
const Head = { archivolt: Type.String(), version: Type.Integer(), id: Type.String() }
/** Validated by the plugins that own the data. */
const Anything = Type.Record(Type.String(), Type.Unknown())

const View = Type.Record(Type.String(), Type.Array(Type.String(), { maxItems: 100_000 }))

/** The schema of each kind, without the parts that the owning plugin validates. */
const Records = {
  video: Type.Object({
    ...Head,
    channel_name: Type.String({ maxLength: 500 }),
    video: Anything,
    comments: Type.Optional(Type.Unknown()),
    /** Set for a film in a folder of another program. */
    film: Type.Optional(Anything),
    place: Type.Optional(Type.Object({ path: Type.String({ maxLength: 4096 }), label: Type.String() })),
    /** JPEG as base64, if it cannot be downloaded again. */
    picture: Type.Optional(Picture),
    others: Anything,
  }),
  channel: Type.Object({
    ...Head,
    channel: Anything,
    handles: Type.Array(Type.String()),
    pictures: Type.Record(Type.String(), Picture),
    others: Anything,
  }),
  playlist: Type.Object({ ...Head, playlist: Anything, picture: Type.Optional(Picture) }),
  archive: Type.Object({
    ...Head,
    accounts: Type.Array(
      Type.Object({
        name: Name,
        is_staff: Type.Boolean(),
        is_active: Type.Boolean(),
        may_download: Type.Boolean(),
        view: Type.Union([View, Type.Null()]),
      }),
      { maxItems: 10_000 },
    ),
    preferences: Type.Record(Type.String(), Anything),
    /** Data that belongs to no single document, by plugin. */
    others: Anything,
  }),
}
export type RecordOf<Of extends Kind> = Static<(typeof Records)[Of]>

export const headOf = <Of extends Kind>(archivolt: Of, id: string) => ({ archivolt, version: VERSION, id })

const SUM_START = ',"sha256":"'
const SUM_LENGTH = SUM_START.length + 64 + '"}\n'.length
const sumOf = (text: string): string => createHash('sha256').update(text).digest('hex')

/** The text of a sidecar: JSON that ends with the SHA-256 of everything before. @param more  additional keys as JSON */
export function toText(record: object, more = ''): string {
  const body = `${JSON.stringify(record).slice(0, -1)}${more}`
  return `${body}${SUM_START}${sumOf(body)}"}\n`
}

const isWhole = (text: string): boolean => {
  const [body, end] = [text.slice(0, -SUM_LENGTH), text.slice(-SUM_LENGTH)]
  return end === `${SUM_START}${sumOf(body)}"}\n`
}

/**
 * @param isOwn  whether the record may have this id
 * @throws unprocessable: the fault of the file
 */
export async function readRecord<Of extends Kind>(
  path: string,
  kind: Of,
  isOwn: (id: string) => boolean,
): Promise<RecordOf<Of>> {
  const text = await readText(path)
  const told = parsed(text)
  const { archivolt, version, id } = (told ?? {}) as Record<string, unknown>
  if (archivolt !== kind) throw errors.unprocessable(say`It is not a sidecar of a ${{ kind }}`)
  if (typeof version === 'number' && version > VERSION)
    throw errors.unprocessable('It was written by a newer version of Archivolt: update first')
  if (!isWhole(text)) throw errors.unprocessable('It is damaged: its checksum is wrong')
  if (typeof id !== 'string' || !isOwn(id))
    throw errors.unprocessable(say`Its name and its content are about different ${{ kind }}s`)
  const fault = faultIn(Records[kind], told)
  if (fault !== undefined) throw errors.unprocessable(say`It is damaged: ${{ fault }}`)
  return told as RecordOf<Of>
}

async function readText(path: string): Promise<string> {
  let file: Awaited<ReturnType<typeof open>> | undefined
  try {
    file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
    const found = await file.stat()
    if (!found.isFile()) throw errors.unprocessable('It is not a regular file')
    if (found.size > MOST_BYTES) throw errors.unprocessable(say`It is larger than ${{ limit: MOST_BYTES >> 20 }} MB`)
    return await file.readFile('utf8')
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ELOOP') throw errors.unprocessable('It is a link', { cause })
    throw cause
  } finally {
    await file?.close()
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw errors.unprocessable('It is damaged: it is not JSON', { cause })
  }
}
