/**
 * Finds what the server says to people with TypeScript's own parser: each sentence that a language has to translate.
 */
import { type Node, type SourceFile, SyntaxKind } from 'typescript/unstable/ast'
import { pathOf, textOf, withParsedSources } from '../../config/parsed-sources.ts'

/** Leaves out texts that only operators see who start the server, or programs that use another form of the API. */
const OURS = /^(base|core|plugins)\/(?!web\/page\/|compat\/|commands\/|plugin\/check\.ts|\w+\/commands\.ts)/

type Literal = Node & { text: string }

/** Calls whose arguments are texts for people, and the index of the first such argument. */
const CALLS: ReadonlyArray<[pattern: RegExp, from: number]> = [
  [/^errors\.wrongField$/, 1],
  [/^errors\.(?!notFound)\w+$/, 0],
  [/^new (BadArchive|NoCatalog|Unusable)$/, 0],
  [/^new AppError$/, 1],
  [/(^|\.)progress$/, 1],
  [/(^|\.)jobs\.(notify|warn)$/, 0],
  [/(^|\.)report\.add$/, 1],
  [/^refuse$/, 0],
]

/** This file composes texts of other files: `map not found`. */
const HERE = /^core\/base\/error\.ts$/

/** Other kinds of expressions may be recursive. */
const IN_CONSTANTS = new Set([SyntaxKind.StringLiteral, SyntaxKind.ConditionalExpression])

/** @returns the location of each sentence, in which values are replaced by names in braces */
export const readSentences = (): Map<string, string> => withParsedSources((path) => OURS.test(path), inFiles)

function inFiles(files: SourceFile[]): Map<string, string> {
  const found = new Map<string, string>()
  const constants = new Map<string, Node>()

  for (const file of files) each(file, (node) => noteConstant(node, file))
  for (const file of files) each(file, (node) => look(node, file))
  return found

  function noteConstant(node: Node, file: SourceFile): void {
    if (node.kind !== SyntaxKind.VariableDeclaration) return
    const { name, initializer } = node as Node & { name: Node; initializer?: Node }
    if (initializer) constants.set(`${pathOf(file)} ${textOf(name, file)}`, initializer)
  }

  function look(node: Node, file: SourceFile): void {
    if (node.kind === SyntaxKind.TaggedTemplateExpression) {
      const { tag, template } = node as Node & { tag: Node; template: Node }
      if (textOf(tag, file) === 'say') add(keyOf(template, file), file)
    }
    if (node.kind !== SyntaxKind.CallExpression && node.kind !== SyntaxKind.NewExpression) return
    const { expression, arguments: given = [] } = node as Node & { expression: Node; arguments?: readonly Node[] }
    const name = (node.kind === SyntaxKind.NewExpression ? 'new ' : '') + textOf(expression, file)
    if (name === 'errors.notFound' && given[0]?.kind === SyntaxKind.StringLiteral)
      note(`${(given[0] as Literal).text} not found`, file)
    const from = CALLS.find(([pattern]) => pattern.test(name))?.[1]
    if (from !== undefined) for (const argument of given.slice(from)) noteIn(argument, file)
  }

  /** Notes all texts that an argument may become: both branches of a condition, the values of an object, a constant. */
  function noteIn(node: Node, file: SourceFile): void {
    const part = node as Node & Record<string, Node & readonly Node[]>
    // Its values would be English words within the sentence: no language has a translation for that.
    if (node.kind === SyntaxKind.TemplateExpression && !HERE.test(pathOf(file))) add(textOf(node, file), file)
    if (node.kind === SyntaxKind.StringLiteral || node.kind === SyntaxKind.NoSubstitutionTemplateLiteral)
      note((node as Literal).text, file)
    else if (node.kind === SyntaxKind.ConditionalExpression)
      for (const way of [part['whenTrue'], part['whenFalse']]) noteIn(way!, file)
    else if (node.kind === SyntaxKind.ParenthesizedExpression) noteIn(part['expression']!, file)
    else if (node.kind === SyntaxKind.BinaryExpression)
      for (const way of [part['left'], part['right']]) noteIn(way!, file)
    else if (node.kind === SyntaxKind.ObjectLiteralExpression) for (const one of part['properties']!) noteIn(one, file)
    else if (node.kind === SyntaxKind.ArrayLiteralExpression) for (const one of part['elements']!) noteIn(one, file)
    else if (node.kind === SyntaxKind.PropertyAssignment) {
      if (!/^(extra|cause|allow|group|level|kind)$/.test(textOf(part['name']!, file)))
        noteIn(part['initializer']!, file)
    } else if (node.kind === SyntaxKind.Identifier) {
      const constant = constants.get(`${pathOf(file)} ${textOf(node, file)}`)
      if (constant && IN_CONSTANTS.has(constant.kind)) noteIn(constant, file)
    }
  }

  /** Names and codes are not sentences. */
  function note(text: string, file: SourceFile): void {
    if (/[a-z] |^[A-Z]/.test(text)) add(text, file)
  }

  function add(text: string, file: SourceFile): void {
    if (!found.has(text)) found.set(text, pathOf(file))
  }
}

function each(node: Node, visit: (node: Node) => void): void {
  visit(node)
  node.forEachChild((child) => void each(child, visit))
}

/** In the form that `say` makes. */
function keyOf(template: Node, file: SourceFile): string {
  if (template.kind === SyntaxKind.NoSubstitutionTemplateLiteral) return (template as Literal).text
  const { head, templateSpans } = template as Node & {
    head: Literal
    templateSpans: ReadonlyArray<Node & { expression: Node; literal: Literal }>
  }
  return (
    head.text +
    templateSpans
      .map(({ expression, literal }) => `{${/^\{\s*(\w+)/.exec(textOf(expression, file))![1]}}${literal.text}`)
      .join('')
  )
}
