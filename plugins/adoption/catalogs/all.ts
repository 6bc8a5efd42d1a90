/** Lists the kinds of catalogs, in the order in which they are tried. */
import { metube } from './metube.ts'
import { pinchflat } from './pinchflat.ts'
import { tartube } from './tartube.ts'
import { tubearchivist } from './tubearchivist.ts'
import { tubesync } from './tubesync.ts'
import type { CatalogKind } from './types.ts'
import { youtarr } from './youtarr.ts'
import { youtubedlMaterial } from './youtubedl-material.ts'
import { ytdlSub } from './ytdl-sub.ts'
import { ytptube } from './ytptube.ts'

export const CATALOG_KINDS: readonly CatalogKind[] = [
  ...[pinchflat, tubearchivist, tubesync, ytdlSub],
  ...[youtarr, metube, ytptube, tartube, youtubedlMaterial],
]
