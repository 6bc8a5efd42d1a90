/** SQLite plans a statement again whenever a value is bound to its LIMIT, but not if it is part of an expression. */
export const planOnce = (sql: string): string => sql.replace(/\bLIMIT \?(?!\d)/g, 'LIMIT ?+0')
