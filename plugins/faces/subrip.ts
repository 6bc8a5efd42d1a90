/** Writes SubRip, the subtitle format that every media server and television reads. */
import type { Cue } from '../video/cues.ts'

export async function subRip(cues: AsyncIterable<Cue>): Promise<string> {
  const parts: string[] = []
  for await (const { start, end, text } of cues)
    parts.push(`${parts.length + 1}\n${start.replace('.', ',')} --> ${end.replace('.', ',')}\n${text}\n`)
  return parts.join('\n')
}
