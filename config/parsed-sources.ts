/** Parses the project's sources with TypeScript, for documents and tests about the code. */
import { join, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Node, SourceFile } from 'typescript/unstable/ast'
import { API } from 'typescript/unstable/sync'

const ROOT = fileURLToPath(new URL('../', import.meta.url))
/** Core, plugins with the page, and config, parsed alone: neither packages nor types of the language are looked for. */
const PROJECT = join(ROOT, 'config/parsed-sources.json')

export type { SourceFile }

/**
 * @param isWanted  by its path from the root of the project; each further one takes its time
 * @param read      what is made of the files; nodes are of no use after it
 */
export function withParsedSources<Result>(
  isWanted: (path: string) => boolean,
  read: (files: SourceFile[]) => Result,
): Result {
  const api = new API({ cwd: ROOT })
  try {
    const { rootFiles, program } = api.updateSnapshot({ openProject: PROJECT }).getProject(PROJECT)!
    return read(rootFiles.filter((name) => isWanted(fromRoot(name))).map((name) => program.getSourceFile(name)!))
  } finally {
    api.close()
  }
}

const fromRoot = (name: string): string => relative(ROOT, name).split(sep).join('/')
/** From the root of the project. */
export const pathOf = (file: SourceFile): string => fromRoot(file.fileName)
/** Without the comment before it. */
export const textOf = (node: Node, file: SourceFile): string => node.getText(file)
