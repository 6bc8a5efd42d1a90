/** Reads how much memory another process uses. */
import { readFile } from 'node:fs/promises'
import { startChild } from '../../core/base/child.ts'

/** undefined: unknown on this system. */
export async function rssBytesOf(pid: number | undefined): Promise<number | undefined> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '')
  const kilobytes = /^VmRSS:\s+(\d+) kB/m.exec(status)?.[1]
  return kilobytes === undefined ? rssFromPs(pid) : Number(kilobytes) * 1024
}

/** Used on systems without /proc. */
function rssFromPs(pid: number | undefined): Promise<number | undefined> {
  if (pid === undefined || process.platform === 'linux') return Promise.resolve(undefined)
  return new Promise((resolve) => {
    let text = ''
    const ps = startChild('ps', ['-o', 'rss=', '-p', String(pid)], { stdio: ['ignore', 'pipe', 'ignore'] })
    ps.once('error', () => resolve(undefined))
    ps.stdout.on('data', (chunk: Buffer) => (text += chunk.toString()))
    ps.once('close', () => resolve(Number(text) > 0 ? Number(text) * 1024 : undefined))
  })
}
