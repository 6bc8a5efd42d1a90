/** The declarations of plugins in `declare module 'archivolt'`, each with its comment. */
import { getLeadingCommentRanges, type Node } from 'typescript/unstable/ast'
import {
  isInterfaceDeclaration,
  isMethodSignatureDeclaration,
  isModuleBlock,
  isModuleDeclaration,
  isPropertySignatureDeclaration,
  isTypeLiteralNode,
} from 'typescript/unstable/ast/is'
import { type SourceFile, textOf } from './parsed-sources.ts'

const KINDS = ['Hooks', 'Events', 'Services'] as const

export interface Declaration {
  kind: (typeof KINDS)[number]
  name: string
  /** The source text, in one line. */
  type: string
  /** A service without its own comment has the first comment of its file. */
  meaning: string
}

export function declarationsIn(file: SourceFile): Declaration[] {
  return declaringStatements(file).flatMap((statement) => {
    if (!isInterfaceDeclaration(statement)) return []
    const kind = KINDS.find((one) => one === textOf(statement.name, file))
    if (!kind) return []
    const isServices = kind === 'Services'
    const members = isServices ? statement.members.flatMap(servicesOf) : statement.members
    return members.filter(isPropertySignatureDeclaration).map((member) => ({
      kind,
      name: textOf(member.name, file).replaceAll("'", ''),
      type: inOneLine(textOf(member.type!, file).replace(/\/\*[\s\S]*?\*\//g, '')),
      meaning: plain(commentBefore(member, file) ?? (isServices ? commentBefore(file, file) : '') ?? ''),
    }))
  })
}

/** What every plugin gets, whatever it needs: the members of `CoreApp`, and additions of plugins to `App`. */
export const handedToAll = (file: SourceFile): Array<Pick<Declaration, 'name' | 'meaning'>> =>
  declaringStatements(file)
    .filter(isInterfaceDeclaration)
    .filter((statement) => /^(Core)?App$/.test(textOf(statement.name, file)))
    .flatMap(({ members }) => [...members])
    .filter((member) => isPropertySignatureDeclaration(member) || isMethodSignatureDeclaration(member))
    .map((member) => ({ name: textOf(member.name, file), meaning: plain(commentBefore(member, file) ?? '') }))

/** Statements of the file, and of the modules that it augments. */
const declaringStatements = (file: SourceFile): Node[] =>
  file.statements.flatMap((statement): readonly Node[] =>
    isModuleDeclaration(statement) && statement.body && isModuleBlock(statement.body)
      ? statement.body.statements
      : [statement],
  )

/** A plugin's services are in an object under its name. */
const servicesOf = (plugin: Node): readonly Node[] =>
  isPropertySignatureDeclaration(plugin) && plugin.type && isTypeLiteralNode(plugin.type) ? plugin.type.members : []

const commentBefore = (node: Node, { text }: SourceFile): string | undefined =>
  getLeadingCommentRanges(text, node.pos)
    ?.map(({ pos, end }) => text.slice(pos, end))
    .findLast((comment) => comment.startsWith('/**'))

const inOneLine = (text: string): string => text.replace(/\s+/g, ' ').trim()
function plain(comment: string): string {
  const lines = comment.slice('/**'.length, -'*/'.length).replace(/^\s*\* ?/gm, '')
  const text = inOneLine(lines)
    .replace(/^The service `\w+`: /, '')
    .replace(
      / @(returns|throws) ([^@]+?)\.?(?= @|$)/g,
      (_tag, verb: string, what: string) => ` ${capital(verb)} ${what}.`,
    )
  return capital(text)
}

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)
