/** In which form documents stand in an archive: our own, as they are kept, or one that another plugin brings. */
import { errors, ID_PATTERN, say } from 'archivolt'
import type { Accept } from './accept.ts'
import type { App } from './app.ts'
import { BadArchive, type DocumentEntry } from './archive.ts'
import { definitionOf } from './collections.ts'

/** A document as an archive has it: whatever somebody wrote into a file. */
export type Stored = Record<string, unknown>

/** A document of an archive as we keep it, still to be checked against the schema of its collection. */
export interface Converted {
  id: string
  doc: Record<string, unknown>
  /** A document of another collection that stands inside it; restored where the archive has none of its own. */
  inside?: { collection: string; id: string; stored: Stored }
}

export interface BackupForm {
  /** What the names of its files begin with: `es` is that of `es_video-20260115-0.json`. */
  readonly mark: string
  /** Collections whose documents may also stand inside those of others. */
  readonly insideOthers: readonly string[]
  /** A batch of one collection as it goes into an archive. */
  toStored(
    collection: string,
    documents: ReadonlyArray<{ id: string; doc: Record<string, unknown> }>,
  ): Promise<Array<{ id: string; stored: Stored }>>
  /**
   * @param number  of the document in the archive
   * @throws AppError  why this document is left out
   */
  toOurs(collection: string, id: string, stored: Stored, number: number): Converted
}

export interface Forms {
  /** In which new archives are written. */
  readonly written: BackupForm
  /** Undefined: nobody here reads these files. */
  of(entry: DocumentEntry): BackupForm | undefined
  /** @throws BadArchive  none of its documents can be read */
  mustRead(entries: readonly DocumentEntry[]): void
}

const ID = new RegExp(ID_PATTERN)

/** Documents as they are kept. */
function ownForm(app: App, accept: Accept): BackupForm {
  return {
    mark: 'av',
    insideOthers: [],
    toStored: async (_collection, documents) => documents.map(({ id, doc }) => ({ id, stored: doc })),
    toOurs(collection, id, stored) {
      if (!ID.test(id)) throw errors.unprocessable('_id is no id')
      return { id, doc: reformed(app, collection, accept(collection, id, stored)) }
    },
  }
}

/** Days in a backup are those of the time zone it was made in. */
function reformed(app: App, collection: string, doc: Record<string, unknown>): Record<string, unknown> {
  try {
    // Its type is that of a collection known by name alone; what comes back has to pass the schema.
    return definitionOf(app, collection)?.reform?.(doc as never) ?? doc
  } catch (cause) {
    throw errors.unprocessable('it cannot be brought into the form of today', { cause })
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
    of,
    mustRead(entries) {
      if (entries.some((entry) => of(entry) !== undefined)) return
      const off = app.plugins.list().flatMap(({ name, isOn }) => (isOn ? [] : [name]))
      const hint = off.length > 0 ? say`. These plugins are turned off: ${{ plugins: off.join(', ') }}` : ''
      throw new BadArchive(
        say`Its files ${{ mark: String(entries[0]?.mark) }}_… are in a form that no plugin here reads${{ hint }}`,
      )
    },
  }
}

declare module 'archivolt' {
  interface Hooks {
    /** Asked when an archive is written (the first answer is its form) or read: a form of documents beside our own. */
    'backup.form': BackupForm
  }
}
