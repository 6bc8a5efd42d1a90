/** The command `archivolt rebuild`, which creates the archive from its library alone. */
import { defineCommand } from 'archivolt'
import type { App } from './app.ts'
import { rebuildArchive } from './rebuild.ts'

export const rebuild = defineCommand({
  name: 'rebuild',
  summary:
    'Rebuild the archive from the sidecars and video files in the library, without the platform (stop the server first)',
  options: { yes: { type: 'boolean', meaning: 'apply the changes (without it: preview only)' } },
  makesArchive: true,
  async run({ options, say, log }, app: App) {
    const isPreview = options.yes !== true
    const { counts, loose, refused, renamed, nobody } = await rebuildArchive(app, { isPreview, log, say })
    const verb = isPreview ? 'would be added' : 'added'
    for (const [kind, { found, added }] of Object.entries(counts))
      say(`${kind}: ${found} in sidecars; ${added} ${verb}`)
    if (loose > 0)
      say(`video files without a sidecar: ${loose} ${verb}, described by themselves and the files next to them`)
    if (nobody.size > 0)
      say(
        `Left out: marks, positions and playlists of ${[...nobody].sort().join(', ')}, because these accounts do not exist. Add them with archivolt user add, then run this again`,
      )
    for (const { path, why } of refused.slice(0, MOST_SHOWN)) say(`Refused: ${path}: ${why}`)
    if (refused.length > MOST_SHOWN) say(`Refused: ${refused.length - MOST_SHOWN} more; the log lists them`)
    if (isPreview) return say('Nothing was changed. To apply the changes: archivolt rebuild --yes')
    if (renamed > 0) say(`Refused files that were renamed, with .refused at the end: ${renamed}`)
    if (counts.accounts.added > 0)
      say('The accounts have no passwords yet: set them with archivolt user password <name>')
  },
})

const MOST_SHOWN = 50
