/** Bundles code of external plugins in memory, against the one copy of core. */
import { createRequire } from 'node:module'
import { basename } from 'node:path'
import type { BuildOptions } from 'esbuild'
import { IMPORTABLE } from '../../core/own-files.ts'

/** Synchronous, because nothing else runs yet, and so that no bundler process is left behind. */
export const bundle = (options: BuildOptions) =>
  (createRequire(import.meta.url)('esbuild') as typeof import('esbuild')).buildSync({
    bundle: true,
    write: false,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    logLevel: 'silent',
    alias: Object.fromEntries(Object.entries(IMPORTABLE).map(([name, { href }]) => [name, href])),
    external: ['file:*'],
    ...options,
    metafile: true,
  })

interface BuildFailure {
  errors?: Array<{ text: string; location: { file: string; line: number } | null }>
}

export function firstLine(thrown: unknown): string {
  const [first] = (thrown as BuildFailure).errors ?? []
  if (first)
    return first.location ? `${first.text} (${basename(first.location.file)}, line ${first.location.line})` : first.text
  return (thrown instanceof Error ? thrown.message : String(thrown)).split('\n')[0]!
}
