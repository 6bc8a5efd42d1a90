/** Waits for output of a program. */
import type { ChildProcess } from 'node:child_process'

/**
 * @returns resolves with the match as soon as the output of both streams contains one; rejects with the output if the
 * program ends before
 */
export function spokenBy(child: ChildProcess): (wanted: RegExp) => Promise<RegExpExecArray> {
  let written = ''
  let hasEnded = false
  const looks = new Set<() => void>()
  const look = () => {
    for (const one of looks) one()
  }
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (chunk: Buffer) => {
      written += chunk.toString()
      look()
    })
  child.once('close', () => {
    hasEnded = true
    look()
  })
  return (wanted) =>
    new Promise((resolve, reject) => {
      const mine = () => {
        const found = wanted.exec(written)
        if (!found && !hasEnded) return
        looks.delete(mine)
        if (found) resolve(found)
        else reject(new Error(`It ended, and never said ${wanted}:\n${written}`))
      }
      looks.add(mine)
      mine()
    })
}
