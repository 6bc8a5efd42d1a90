/** Parses the project's sources with TypeScript, for documents and tests about the code. */
import { join, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Node, SourceFile } from 'typescript/unstable/ast'
import { API } from 'typescript/unstable/sync'

const ROOT = fileURLToPath(new URL('../', import.meta.url))
/** Core, plugins with the page, and config, parsed alone, without resolving packages and types of the language. */
const PROJECT = join(ROOT, 'config/parsed-sources.json')

export type { SourceFile }

/**
 * @param isWanted  called with the path relative to the root of the project; each additional file takes time
 * @param read      called with the files; their nodes cannot be used afterwards
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
/** Relative to the root of the project. */
export const pathOf = (file: SourceFile): string => fromRoot(file.fileName)
/** The text without the preceding comment. */
export const textOf = (node: Node, file: SourceFile): string => node.getText(file)
