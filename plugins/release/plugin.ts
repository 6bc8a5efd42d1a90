/** Checks whether a newer version of the program is available. */
import { definePlugin, Type } from 'archivolt'
import { latestTable, openReleases, type Releases, versionCheck } from './releases.ts'

export default definePlugin({
  name: 'release',
  settings: {
    releasesUrl: {
      env: 'AV_RELEASES_URL',
      schema: Type.Union([Type.String({ pattern: '^https?://\\S+$' }), Type.Null()], {
        description: 'a URL that starts with http:// or https://',
      }),
      default: null,
      meaning: 'where version_check looks: JSON with `version` or `tag_name`; unset: nothing',
    },
  },
  migrations: [latestTable],
  services: (app) => ({ releases: openReleases(app) }),
  tasks: [versionCheck],
})

declare module 'archivolt' {
  interface Services {
    release: {
      /** Whether a newer version is available. */
      releases: Releases
    }
  }
  interface Settings {
    releasesUrl: string | null
  }
}
