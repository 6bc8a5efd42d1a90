/** Reads small JSON files that the program has written itself. */
import { readFile } from 'node:fs/promises'
import type { Static, TSchema } from 'typebox'
import { Value } from 'typebox/value'

/** @returns undefined: the file is missing, unreadable, damaged, or of another form */
export async function readJson<Schema extends TSchema>(
  path: string,
  schema: Schema,
): Promise<Static<Schema> | undefined> {
  try {
    const value: unknown = JSON.parse(await readFile(path, 'utf8'))
    return Value.Check(schema, value) ? value : undefined
  } catch {
    return undefined
  }
}
