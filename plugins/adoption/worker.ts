/**
 * The reading child for places and catalogs of other programs. It writes only notes about catalogs, into a folder of
 * the data folder.
 */
import { answersOfFilms, type Requests, serve } from '../film-kit/serve.ts'
import type { WalkArgs } from '../film-kit/walk.ts'
import { storeDocuments } from './catalogs/documents.ts'
import { filesNear, isOfNeighbour, stampNear } from './catalogs/find-files.ts'
import { allowed, type Notes, openNotes, readCatalogs } from './catalogs/notes.ts'
import { cachedPictures, channelOfFolder } from './catalogs/tubearchivist-folder.ts'
import type { Along, CatalogFault, CatalogRead, PathMap } from './catalogs/types.ts'
import { type Glance, type GlanceArgs, glanceBelow } from './glance.ts'

/** The folder of the notes, and the place that they describe. */
export interface NotesArgs {
  own: string
  path: string
  roots: readonly string[]
}

export interface AdoptionRequests extends Requests<NotesArgs> {
  catalog: {
    args: NotesArgs & {
      at?: string
      kind?: string | undefined
      said?: PathMap | undefined
      endings: readonly string[]
    }
    result: { read?: CatalogRead; faults: CatalogFault[] }
  }
  glance: { args: GlanceArgs; result: Glance }
  stamp: { args: { path: string; roots: readonly string[] }; result: string }
  documents: { args: { own: string; text: string; isFirst: boolean }; result: { count: number; after?: unknown[] } }
  unseen: { args: NotesArgs & { after: number; most: number }; result: ReturnType<Notes['unseen']> }
  archived: { args: NotesArgs & { after: number; most: number }; result: ReturnType<Notes['archived']> }
  along: { args: NotesArgs & { after: number; most: number }; result: Array<{ number: number; one: Along }> }
}

/** The open notes: this child works for only one adoption. */
let opened: Notes | undefined
const notesOf = ({ own, path, roots }: NotesArgs): Notes => (opened ??= openNotes(own, path, roots))

/**
 * Finds pictures in TubeArchivist's cache, for films in folders of channels. The cache is searched when it is first
 * used.
 */
function picturesOf({ path, roots }: WalkArgs) {
  if (!roots) return undefined
  let cached: ReturnType<typeof cachedPictures> | undefined
  return (folder: string, base: string) => {
    if (channelOfFolder(folder) === undefined) return undefined
    cached ??= cachedPictures(path, allowed(roots))
    return cached(base)
  }
}

const films = answersOfFilms<NotesArgs>({ picturesOf, listedIn: (notes) => (file) => notesOf(notes).of(file) })

serve<AdoptionRequests>({
  ...films,
  /** The comments next to or in the film, otherwise those of the catalog. */
  async comments(asked) {
    const beside = await films.comments(asked)
    return beside.length === 0 && asked.notes ? notesOf(asked.notes).commentsOf(asked.id) : beside
  },
  /** Reads the catalog. One that belongs to a neighbor is not reported. */
  async catalog({ own, path, roots, at, kind, said, endings }) {
    const { faults, ...found } = await readCatalogs(path, roots, filesNear(path, roots, at), own, {
      at,
      only: kind,
      said,
    })
    const films = new Set(endings)
    const isTold = ({ code, path: catalog }: CatalogFault) =>
      code !== 'catalog_elsewhere' || !isOfNeighbour(catalog, path, films)
    return { ...found, faults: faults.filter(isTold) }
  },
  glance: glanceBelow,
  stamp: ({ path, roots }) => stampNear(path, roots),
  documents: ({ own, text, isFirst }) => storeDocuments(own, text, isFirst),
  unseen: ({ after, most, ...notes }) => notesOf(notes).unseen(after, most),
  archived: ({ after, most, ...notes }) => notesOf(notes).archived(after, most),
  along: ({ after, most, ...notes }) => notesOf(notes).along(after, most),
})
