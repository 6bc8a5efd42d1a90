/** Compatibility with the reference's clients and users: the paths and forms of its next line, and its backups. */
import { definePlugin } from 'archivolt'
import { adaptations } from './adaptations.ts'
import { referenceForm } from './backup-form.ts'
import { mediaPrefixSetting } from './media-prefix.ts'
import { membershipRoutes, removeSchedule, setSchedule, showHealth, showSchedule } from './other-routes.ts'
import { formSetting, refusals } from './release-lines.ts'
import { changeSettings, showSettings } from './settings-routes.ts'
import { startStamp } from './start-stamp.ts'
import { ownPlaylistSize, ownTokenProvider, valueTables } from './stored-values.ts'
import { changeMe, showAccount, showMe } from './user-routes.ts'

export default definePlugin({
  name: 'compat',
  needs: ['platform', 'media', 'channel', 'video', 'playlist', 'watch', 'download', 'backup'],
  settings: { compat: formSetting, compatMediaPrefix: mediaPrefixSetting },
  migrations: [valueTables, ownPlaylistSize, ownTokenProvider],
  implements: { 'backup.form': referenceForm },
  adaptations,
  faults: refusals,
  replyHeaders: startStamp,
  routes: [
    ...[showMe, changeMe, showAccount, showSettings, changeSettings, showHealth],
    ...[showSchedule, setSchedule, removeSchedule, ...membershipRoutes],
  ],
})
