/** The forms of documents in an archive: our own stored form, or one that another plugin adds. */
import { errors, ID_PATTERN, say } from 'archivolt'
import type { Accept } from './accept.ts'
import type { App } from './app.ts'
import { BadArchive, type DocumentEntry } from './archive.ts'
import { definitionOf } from './collections.ts'

/** A document of an archive, which is not trusted. */
export type Stored = Record<string, unknown>

/** A document converted to our form, not yet checked against the schema of its collection. */
export interface Converted {
  id: string
  doc: Record<string, unknown>
  /** A nested document of another collection, which is restored if the archive has no separate one. */
  inside?: { collection: string; id: string; stored: Stored }
}

export interface BackupForm {
  /** The prefix of its file names: `es` for `es_video-20260115-0.json`. */
  readonly mark: string
  /** Collections whose documents may also be nested in those of others. */
  readonly insideOthers: readonly string[]
  /** Converts a batch of one collection for an archive. */
  toStored(
    collection: string,
    documents: ReadonlyArray<{ id: string; doc: Record<string, unknown> }>,
  ): Promise<Array<{ id: string; stored: Stored }>>
  /**
   * @param number  the number of the document in the archive
   * @throws AppError  why this document is skipped
   */
  toOurs(collection: string, id: string, stored: Stored, number: number): Converted
}

export interface Forms {
  /** The form of new archives. */
  readonly written: BackupForm
  /** The form in which documents are stored. */
  readonly own: BackupForm
  /** The form of an entry; undefined: no form can read it. */
  of(entry: DocumentEntry): BackupForm | undefined
  /** @throws BadArchive  none of its documents can be read */
  mustRead(entries: readonly DocumentEntry[]): void
}

const ID = new RegExp(ID_PATTERN)

/** The form in which documents are stored. */
function ownForm(app: App, accept: Accept): BackupForm {
  return {
    mark: 'av',
    insideOthers: [],
    toStored: async (_collection, documents) => documents.map(({ id, doc }) => ({ id, stored: doc })),
    toOurs(collection, id, stored) {
      if (!ID.test(id)) throw errors.unprocessable('_id is not an id')
      return { id, doc: reformed(app, collection, accept(collection, id, stored)) }
    },
  }
}

/** Converts a document to the current form, because days in a backup are those of its own time zone. */
function reformed(app: App, collection: string, doc: Record<string, unknown>): Record<string, unknown> {
  try {
    // Only the name of the collection is known, so the type is not; the result must pass the schema.
    return definitionOf(app, collection)?.reform?.(doc as never) ?? doc
  } catch (cause) {
    throw errors.unprocessable('it cannot be converted to the current form', { cause })
  }
}

export function openForms(app: App, accept: Accept): Forms {
  const own = ownForm(app, accept)
  const all = () => [...app.hook('backup.form'), own]
  const of = ({ mark }: DocumentEntry) => all().find((form) => form.mark === mark)
  return {
    get written() {
      return all()[0]!
    },
    own,
    of,
    mustRead(entries) {
      if (entries.some((entry) => of(entry) !== undefined)) return
      const off = app.plugins.list().flatMap(({ name, isOn }) => (isOn ? [] : [name]))
      const hint = off.length > 0 ? say`. These plugins are turned off: ${{ plugins: off.join(', ') }}` : ''
      throw new BadArchive(
        say`No plugin can read the format of its files ${{ mark: String(entries[0]?.mark) }}_…${{ hint }}`,
      )
    },
  }
}

declare module 'archivolt' {
  interface Hooks {
    /**
     * Asked when a backup is written or read: returns a form of documents in addition to our own. A new backup is
     * written in the form of the first answer.
     */
    'backup.form': BackupForm
  }
}
