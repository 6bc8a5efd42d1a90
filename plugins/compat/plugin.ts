/** What clients of the reference and its users rely on: so far the form of its backups. */
import { definePlugin } from 'archivolt'
import { referenceForm } from './backup-form.ts'

export default definePlugin({
  name: 'compat',
  needs: ['platform', 'media', 'channel', 'video', 'playlist', 'watch', 'download', 'backup'],
  implements: { 'backup.form': referenceForm },
})
