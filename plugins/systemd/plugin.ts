/**
 * systemd: reports when the server is ready and when it stops, and reports regularly that the event loop still runs, so
 * that systemd restarts a server that hangs. Does nothing without systemd.
 */
import { definePlugin, Type } from 'archivolt'
import { type Notifier, openNotifier } from './notifier.ts'

export default definePlugin({
  name: 'systemd',
  settings: {
    notifySocket: {
      env: 'AV_NOTIFY_SOCKET',
      schema: Type.String(),
      default: '',
      meaning: 'where systemd listens; set by `config/archivolt` where systemd starts it',
    },
    watchdogMicroseconds: {
      env: 'AV_WATCHDOG_USEC',
      schema: Type.Integer({ minimum: 0 }),
      default: 0,
      meaning: 'how long systemd waits for a sign of life, in microseconds, set as above; 0: it does not',
    },
  },
  services: (app) => ({ systemd: openNotifier(app) }),
  on: { 'server.ready': (app) => () => app.systemd.begin() },
  close: (app) => app.systemd.end(),
})

declare module 'archivolt' {
  interface Settings {
    notifySocket: string
    watchdogMicroseconds: number
  }
  interface Services {
    systemd: { systemd: Notifier }
  }
}
