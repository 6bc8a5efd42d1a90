/** Webhook: posts to a configured address what is added, removed, or cannot be downloaded. */
import { definePlugin, type Events, type PreferencesOf, Type, type AppOf } from '@archivolt/plugin'

const preferences = {
  webhook: {
    url: Type.String({
      title: 'Webhook',
      description: 'Gets a message about each new, removed and failed video. Empty: none.',
      pattern: '^(https?://\\S+)?$',
      maxLength: 2000,
      default: '',
    }),
  },
}

type App = AppOf<'webhook' | 'video' | 'download'>

/** After an error the listener is called again, after 30 s and after 5 min; then admins are notified. */
const tell = <Name extends 'video.added' | 'video.removed' | 'download.failed'>(event: Name) => (app: App) =>
  async (told: Events[Name]): Promise<void> => {
    const { url } = app.preferences.section('webhook')
    if (url === '') return
    const headers = { 'content-type': 'application/json' }
    const reply = await app.fetch(url, { method: 'POST', headers, body: JSON.stringify({ event, ...told }) })
    if (!reply.ok) throw new Error(`the webhook answered with status ${reply.status}`)
  }

export default definePlugin({
  name: 'webhook',
  api: 1,
  needs: ['video', 'download'],
  preferences,
  on: {
    'video.added': tell('video.added'),
    'video.removed': tell('video.removed'),
    'download.failed': tell('download.failed'),
  },
})

declare module '@archivolt/plugin' {
  interface PreferenceValues {
    webhook: PreferencesOf<typeof preferences.webhook>
  }
}
