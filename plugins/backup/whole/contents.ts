/**
 * Defines the content of a whole backup: the names of its files, and the record at its beginning. They are written by
 * `pack.ts` and read by `unpack.ts`.
 */
import { join } from 'node:path'
import { type Static, Type } from 'typebox'

/** The version of the file format; files with a later version are refused. */
export const FORM = 1

export const HEAD = 'archivolt.json'
export const DOCUMENTS = 'documents.zip'
export const LEDGER = 'ledger.sqlite.gz'
/** The last file: contains the number of all files before it, and their checksum. */
export const END = 'end.json'
/** Files that are only in encrypted backups. */
export const SECRETS = ['secret.key', 'cookie.txt', 'config.json'] as const
const KINDS = ['videos', 'channels', 'playlists'] as const
/** Folders with pictures, by their names in a backup: those of the cache, and former pictures. */
export const pictureFolders = ({ cacheDir, dataDir }: { cacheDir: string; dataDir: string }): PictureFolder[] => [
  ...KINDS.map((kind) => ({ name: `pictures/${kind}`, path: join(cacheDir, kind) })),
  { name: 'history', path: join(dataDir, 'history') },
]
export interface PictureFolder {
  name: string
  path: string
}
export const PICTURE = /^(?:pictures\/(?:videos|channels|playlists)|history)(?:\/[\w-][\w.-]*){1,4}$/

/** The folder in a restored data folder with the data that the next start copies to index and cache. */
export const RESTORING = 'restoring'

const Count = Type.Integer({ minimum: 0 })
const Counts = Type.Record(Type.String(), Count)

export const Head = Type.Object({
  form: Type.Integer(),
  /** Version of the program. */
  version: Type.String({ maxLength: 100 }),
  /** Epoch seconds. */
  made_at: Count,
  /** Identifies the secret key of the installation, without revealing anything about it. */
  key: Type.String({ maxLength: 100 }),
  /** Number of documents by collection. */
  documents: Counts,
  /** Number of rows by table of the ledger. */
  tables: Counts,
  accounts: Type.Array(Type.String()),
  /** Plugins that were on; missing in backups of earlier versions. */
  plugins: Type.Optional(Type.Array(Type.String({ maxLength: 100 }))),
  pictures: Count,
  /** Whether it contains the secret key, the cookie and the settings, and is therefore encrypted. */
  has_secrets: Type.Boolean(),
  /** Size of all files, unpacked. */
  bytes: Count,
})
export type Head = Static<typeof Head>

export const End = Type.Object({ files: Count, sha256: Type.String() })
