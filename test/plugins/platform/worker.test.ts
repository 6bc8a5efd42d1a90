/** The worker of yt-dlp by itself, as the server starts it. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { test } from 'node:test'
import { systemClock } from '../../../core/base/clock.ts'
import { openLog } from '../../../core/log.ts'
import { openTools } from '../../../plugins/platform/tools.ts'
import { temporaryFolder } from '../../support/folder.ts'
import '../../support/tools.ts'

test('when the server is gone the worker ends itself, even during a request', async (t) => {
  const dataDir = await temporaryFolder(t)
  const settings = {
    dataDir,
    platformUrl: 'http://127.0.0.1:1',
    ytdlp: null,
    ytdlpPlugins: null,
    ffmpeg: 'ffmpeg',
    ffprobe: 'ffprobe',
  }
  const { python, worker, setup } = await openTools(
    settings,
    { retryPause: 60, socketTimeout: 20 },
    systemClock,
    openLog('silent'),
  ).launch('metadata', null)
  const child = spawn(python, ['-I', worker], {
    stdio: ['pipe', 'pipe', 'ignore'],
    detached: true,
    env: { ...process.env, AV_PASSWORD: 'secret' },
  })
  child.stdin.write(`${JSON.stringify(setup)}\n${JSON.stringify({ id: 1, op: 'video', videoId: 'aaaaaaaaaaa' })}\n`)
  await once(child.stdout, 'data')

  child.stdin.destroy()

  const [code, signal] = await once(child, 'close')
  assert.ok(signal === 'SIGKILL' || code === 1)
})
