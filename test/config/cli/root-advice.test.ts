/** The advice that is printed when root starts the server. */
import assert from 'node:assert/strict'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { adviceForRoot } from '../../../config/cli/root-advice.ts'
import { temporaryFolder } from '../../support/folder.ts'

test('a start as root prints one line on how to run as a user; as another user, or in a container, it prints nothing', async (t) => {
  const [machine, docker, namespace] = [await temporaryFolder(t), await temporaryFolder(t), await temporaryFolder(t)]
  for (const [root, users] of [
    [machine, '         0          0 4294967295\n'],
    [namespace, '         0       1000          1\n'],
  ] as const) {
    await mkdir(join(root, 'proc/self'), { recursive: true })
    await writeFile(join(root, 'proc/self/uid_map'), users)
  }
  await writeFile(join(docker, '.dockerenv'), '')

  const said = adviceForRoot('/srv/archivolt', 0, machine)

  assert.match(
    said ?? '',
    /^Archivolt runs as root .*chown -R archivolt \/srv\/archivolt; sudo -u archivolt archivolt start/,
  )
  assert.doesNotMatch(said ?? '', /\n/)
  assert.equal(adviceForRoot('/srv/archivolt', 1000, machine), undefined)
  assert.equal(adviceForRoot('/srv/archivolt', 0, docker), undefined)
  assert.equal(adviceForRoot('/srv/archivolt', 0, namespace), undefined)
})
