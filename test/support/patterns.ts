/** Finds every regular expression in our sources with TypeScript's own parser, for the test that times them. */
import { readdirSync, readFileSync } from 'node:fs'
import { join, sep } from 'node:path'
import { type Node, type SourceFile, SyntaxKind } from 'typescript/unstable/ast'
import { pathOf, textOf, withParsedSources } from '../../config/parsed-sources.ts'
import { ROOT } from './sources.ts'

export interface Pattern {
  /** `core/x.ts:12`: its first occurrence. */
  place: string
  source: string
  flags: string
}

export interface Patterns {
  patterns: Pattern[]
  /** Patterns that are composed at run time: `core/x.ts: the expression`. */
  made: string[]
}

/**
 * Code that the server or the page runs. Generators of documents are left out, because they read only our own sources.
 */
const OURS = /^(base|core|plugins|config)\/(?!declarations\.ts|parsed-sources\.ts|plugin-map\.ts)/

export const readPatterns = (): Patterns => withParsedSources((path) => OURS.test(path), inFiles)

function inFiles(files: SourceFile[]): Patterns {
  const found = new Map<string, Pattern>()
  const made = new Set<string>()
  const constants = new Map<string, { node: Node; file: SourceFile }>()
  const keyOf = (file: SourceFile, name: string) => `${pathOf(file)} ${name}`

  function each(node: Node, file: SourceFile, visit: (node: Node, file: SourceFile) => void): void {
    visit(node, file)
    node.forEachChild((child) => void each(child, file, visit))
  }

  function noteConstant(node: Node, file: SourceFile): void {
    if (node.kind !== SyntaxKind.VariableDeclaration) return
    const { name, initializer } = node as Node & { name: Node; initializer?: Node }
    if (!initializer) return
    constants.set(keyOf(file, textOf(name, file)), { node: initializer, file })
    constants.set(textOf(name, file), { node: initializer, file }) // by the name under which another file imports it
  }

  /** The value of an expression, if it can be determined without running code. */
  function valueOf(node: Node, file: SourceFile): string | undefined {
    if (node.kind === SyntaxKind.StringLiteral || node.kind === SyntaxKind.NoSubstitutionTemplateLiteral)
      return (node as Node & { text: string }).text
    if (node.kind === SyntaxKind.Identifier) {
      const constant = constants.get(keyOf(file, textOf(node, file))) ?? constants.get(textOf(node, file))
      return constant && valueOf(constant.node, constant.file)
    }
    if (node.kind === SyntaxKind.TemplateExpression) return valueOfTemplate(node, file, false)
    if (node.kind !== SyntaxKind.TaggedTemplateExpression) return undefined
    const { tag, template } = node as Node & { tag: Node; template: Node }
    if (textOf(tag, file) !== 'String.raw') return undefined
    return template.kind === SyntaxKind.TemplateExpression
      ? valueOfTemplate(template, file, true)
      : textOf(template, file).slice(1, -1)
  }

  function valueOfTemplate(node: Node, file: SourceFile, isRaw: boolean): string | undefined {
    const { head, templateSpans } = node as Node & {
      head: Node & { text: string }
      templateSpans: Array<Node & { expression: Node; literal: Node & { text: string } }>
    }
    const piece = (part: Node & { text: string }) =>
      isRaw
        ? textOf(part, file)
            .replace(/^[`}]/, '')
            .replace(/(`|\$\{)$/, '')
        : part.text
    let value = piece(head)
    for (const { expression, literal } of templateSpans) {
      const inner = valueOf(expression, file)
      if (inner === undefined) return undefined
      value += inner + piece(literal)
    }
    return value
  }

  function note(node: Node, file: SourceFile, source: string, flags: string): void {
    const line = file.text.slice(0, node.end).split('\n').length
    if (!found.has(`${flags} ${source}`))
      found.set(`${flags} ${source}`, { place: `${pathOf(file)}:${line}`, source, flags })
  }

  function noteExpression(node: Node, file: SourceFile, flags: string): void {
    const source = valueOf(node, file)
    if (source === undefined) made.add(`${pathOf(file)}: ${textOf(node, file)}`)
    else note(node, file, source, flags)
  }

  function visit(node: Node, file: SourceFile): void {
    if (node.kind === SyntaxKind.RegularExpressionLiteral) {
      const { text } = node as Node & { text: string }
      const end = text.lastIndexOf('/')
      return note(node, file, text.slice(1, end), text.slice(end + 1))
    }
    if (node.kind === SyntaxKind.NewExpression || node.kind === SyntaxKind.CallExpression) {
      const { expression, arguments: given } = node as Node & { expression: Node; arguments?: Node[] }
      const [source, flags] = given ?? []
      if (textOf(expression, file) === 'RegExp' && source)
        noteExpression(source, file, flags ? (valueOf(flags, file) ?? '') : '')
    } else if (node.kind === SyntaxKind.PropertyAssignment || node.kind === SyntaxKind.ShorthandPropertyAssignment) {
      const { name, initializer = name } = node as Node & { name: Node; initializer?: Node }
      if (textOf(name, file) === 'pattern') noteExpression(initializer, file, 'u') // in a schema
    } else if (node.kind === SyntaxKind.StringLiteral && /^\^.+\$$/s.test((node as Node & { text: string }).text)) {
      noteExpression(node, file, 'u') // on its way into a schema
    }
  }

  for (const file of files) each(file, file, noteConstant)
  for (const file of files) each(file, file, visit)
  return { patterns: [...found.values(), ...inPython(made)], made: [...made].sort() }
}

/** Patterns in Python; they are simple enough to mean the same in both languages. */
function inPython(made: Set<string>): Pattern[] {
  const paths = readdirSync(join(ROOT, 'plugins'), { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.py'),
  )
  return paths.flatMap((name) => {
    const place = `plugins/${name.split(sep).join('/')}`
    const text = readFileSync(join(ROOT, 'plugins', name), 'utf8')
    return [...text.matchAll(/\bre\.\w+\((r'([^'\\]|\\.)*')?.*/g)].flatMap(([call, literal]) => {
      if (literal) return [{ place, source: literal.slice(2, -1), flags: '' }]
      made.add(`${place}: ${call}`)
      return []
    })
  })
}
