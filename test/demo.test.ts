/** `make demo`, which plugin authors use to see their plugin. */
import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { CLIPS, DEMO_CLIPS, pictureOf } from './platform/media.mjs'
import './platform/start.ts' // what the demo needs
import { temporaryFolder } from './support/folder.ts'
import { spokenBy } from './support/said.ts'
import { ROOT } from './support/sources.ts'
import './support/long.ts'

test("the demo loads plugins of AV_PLUGINS_DIR with their settings, and ignores the settings of the user's own archive", async (t) => {
  const folder = await temporaryFolder(t)
  await mkdir(join(folder, 'tide'))
  await writeFile(
    join(folder, 'tide/plugin.ts'),
    `import { definePlugin, Type } from 'archivolt'
    export default definePlugin({
      name: 'tide',
      settings: { tideHeight: { env: 'AV_TIDE_HEIGHT', schema: Type.Integer(), default: 0, meaning: 'how high it is' } },
      setup: (app) => void process.stderr.write('The tide is at ' + app.settings.tideHeight + ' in ' + app.settings.mediaDir + '\\n'),
    })`,
  )
  const demo = spawn(process.execPath, ['--import', 'tsx', '--conditions=source', join(ROOT, 'test/support/demo.ts')], {
    env: {
      ...process.env,
      EMPTY: '1',
      AV_PORT: '0',
      AV_PLUGINS_DIR: folder,
      AV_TIDE_HEIGHT: '7',
      AV_MEDIA_DIR: join(folder, 'media'),
    },
  })
  t.after(async () => {
    demo.kill('SIGTERM')
    await once(demo, 'exit')
  })

  await spokenBy(demo)(/The tide is at 7 in .*archivolt-demo-.*\/media\n[\s\S]*The demo runs on http/)
})

test('each film of the demo can be drawn', async () => {
  assert.equal(DEMO_CLIPS.length, 6)
  for (const name of DEMO_CLIPS) {
    const clip = CLIPS[name as keyof typeof CLIPS]
    const frame = ['-frames:v', '1', '-f', 'rawvideo', '-pix_fmt', 'gray', '-']
    const { stdout } = await promisify(execFile)(
      'ffmpeg',
      ['-v', 'error', '-f', 'lavfi', '-i', pictureOf(clip, false), ...frame],
      { encoding: 'buffer', maxBuffer: 2_000_000 },
    )
    assert.equal(stdout.length, clip.width * clip.height, name)
  }
})
