/** Bell: a notifier. It sends messages of tasks to `bell://host/topic` as plain text, and to `bells://` over TLS. */
import { definePlugin, errors } from '@archivolt/plugin'

const SYMBOLS = { info: 'ℹ', success: '✓', failure: '✗' }

export default definePlugin({
  name: 'bell',
  api: 1,
  needs: ['notification'],
  implements: {
    'notification.carrier': (app) => ({
      schemes: ['bell', 'bells'],
      async carry(url, { title, body, kind }, signal) {
        const reply = await app.fetch(url.replace(/^bell(s?):/i, 'http$1:'), {
          method: 'POST',
          headers: { 'content-type': 'text/plain; charset=utf-8' },
          body: `${SYMBOLS[kind]} ${title}\n${body}\n`,
          signal,
        })
        if (!reply.ok) throw errors.unavailable(`The bell answered with status ${reply.status}`)
      },
    }),
  },
})
