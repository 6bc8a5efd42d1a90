/** A cache of prepared SQLite statements. */
import { madeOnce } from './made-once.ts'

const MOST_STATEMENTS = 400

/** Prepares each statement once; if there are too many, all are prepared again. */
export function statementCache<Statement extends object>(prepare: (sql: string) => Statement) {
  const statements = new Map<string, Statement>()
  return (sql: string): Statement => {
    if (statements.size > MOST_STATEMENTS) statements.clear()
    return madeOnce(statements, sql, () => prepare(planOnce(sql)))
  }
}

/** SQLite plans a statement again whenever a value is bound to its LIMIT, but not if it is part of an expression. */
const planOnce = (sql: string): string => sql.replace(/\bLIMIT \?(?!\d)/g, 'LIMIT ?+0')
