/** Notifies systemd with systemd's own program, because Node does not support datagram sockets of this kind. */
import { promisify } from 'node:util'
import { childEnvironment, runChild, type Timer } from 'archivolt'
import type { App } from './app.ts'

const run = promisify(runChild)
/** Number of watchdog messages per period. */
const SIGNS = 3
const LIMIT_MS = 10_000

export interface Notifier {
  begin(): Promise<void>
  end(): Promise<void>
}

export function openNotifier({ settings, clock, log }: Pick<App, 'settings' | 'clock' | 'log'>): Notifier {
  const { notifySocket, watchdogMicroseconds } = settings
  let signs: Timer | undefined
  let hasFailed = false

  async function tell(state: string): Promise<void> {
    if (notifySocket === '') return
    try {
      await run('systemd-notify', [state], {
        timeout: LIMIT_MS,
        env: { ...childEnvironment(), NOTIFY_SOCKET: notifySocket },
      })
    } catch (err) {
      if (!hasFailed) log.warn({ err }, 'systemd could not be notified: is systemd-notify installed?')
      hasFailed = true
    }
  }

  return {
    async begin() {
      await tell('READY=1')
      if (watchdogMicroseconds > 0) signs = clock.every(watchdogMicroseconds / 1000 / SIGNS, () => tell('WATCHDOG=1'))
    },
    async end() {
      signs?.cancel()
      await tell('STOPPING=1')
    },
  }
}
