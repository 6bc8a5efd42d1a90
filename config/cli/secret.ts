/** Reads a secret for a command: typed invisibly at a terminal, otherwise the first line of standard input. */
import { createInterface } from 'node:readline/promises'
import { Writable } from 'node:stream'

/** @throws a sentence if no secret was given */
export async function readSecret(question: string): Promise<string> {
  const { stdin, stderr } = process
  const isTerminal = stdin.isTTY === true
  if (isTerminal) stderr.write(`${question}: `)
  // readline echoes the typed text to this stream, which discards it.
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() })
  const lines = createInterface({ input: stdin, output: nowhere, terminal: isTerminal })
  try {
    for await (const line of lines) {
      if (isTerminal) stderr.write('\n')
      return line
    }
    throw new Error(`${question}: standard input is empty; type it, or pipe it in`)
  } finally {
    lines.close()
  }
}
