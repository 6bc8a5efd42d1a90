/** The project's sources as TypeScript's own parser reads them: for documents and tests that are about the code. */
import { join, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Node, SourceFile } from 'typescript/unstable/ast'
import { API } from 'typescript/unstable/sync'

const ROOT = fileURLToPath(new URL('../', import.meta.url))

export type { SourceFile }

/**
 * @param projects  paths of `tsconfig.json` files, from the root of the project
 * @param read      what is made of the files; nodes are of no use after it
 */
export function withParsedSources<Result>(projects: readonly string[], read: (files: SourceFile[]) => Result): Result {
  const api = new API({ cwd: ROOT })
  try {
    const files = projects.flatMap((name) => {
      const path = join(ROOT, name)
      const project = api.updateSnapshot({ openProject: path }).getProject(path)!
      return project.rootFiles.map((file) => project.program.getSourceFile(file)!)
    })
    return read(files)
  } finally {
    api.close()
  }
}

/** From the root of the project. */
export const pathOf = (file: SourceFile): string => relative(ROOT, file.fileName).split(sep).join('/')
/** Without the comment before it. */
export const textOf = (node: Node, file: SourceFile): string => node.getText(file)
