/** What a whole backup contains: the names of its files, and the record at its beginning. */
import { join } from 'node:path'
import { type Static, Type } from 'typebox'

/** The version of the file format; a program refuses later ones. */
export const FORM = 1

export const HEAD = 'archivolt.json'
export const DOCUMENTS = 'documents.zip'
export const LEDGER = 'ledger.sqlite.gz'
/** The last file: the number of all files before it, and their checksum. */
export const END = 'end.json'
/** Only in encrypted backups. */
export const SECRETS = ['secret.key', 'cookie.txt', 'config.json'] as const
const KINDS = ['videos', 'channels', 'playlists'] as const
/** Folders with pictures, by their names in a backup: those of the cache, and old ones. */
export const pictureFolders = ({ cacheDir, dataDir }: { cacheDir: string; dataDir: string }): PictureFolder[] => [
  ...KINDS.map((kind) => ({ name: `pictures/${kind}`, path: join(cacheDir, kind) })),
  { name: 'history', path: join(dataDir, 'history') },
]
export interface PictureFolder {
  name: string
  path: string
}
export const PICTURE = /^(?:pictures\/(?:videos|channels|playlists)|history)(?:\/[\w-][\w.-]*){1,4}$/

/** The folder, in a restored data folder, of what its next start brings into index and cache. */
export const RESTORING = 'restoring'

const Count = Type.Integer({ minimum: 0 })
const Counts = Type.Record(Type.String(), Count)

export const Head = Type.Object({
  form: Type.Integer(),
  /** Of the program. */
  version: Type.String({ maxLength: 100 }),
  /** Epoch seconds. */
  made_at: Count,
  /** Tells the secret key of its installation from others, and nothing more of it. */
  key: Type.String({ maxLength: 100 }),
  /** By collection. */
  documents: Counts,
  /** Rows by table of the ledger. */
  tables: Counts,
  accounts: Type.Array(Type.String()),
  /** That were on; backups of earlier versions do not say it. */
  plugins: Type.Optional(Type.Array(Type.String({ maxLength: 100 }))),
  pictures: Count,
  /** It has the secret key, the cookie and the settings, so it is encrypted. */
  has_secrets: Type.Boolean(),
  /** Of all files, unpacked. */
  bytes: Count,
})
export type Head = Static<typeof Head>

export const End = Type.Object({ files: Count, sha256: Type.String() })
