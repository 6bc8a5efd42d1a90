/**
 * Which columns of the ledger hold sealed text: a new secret key has to find all of them, those of plugins that are
 * away too.
 */
export const sealedColumns = `
CREATE TABLE sealed_columns (
  table_name TEXT NOT NULL,
  column_name TEXT NOT NULL,
  PRIMARY KEY (table_name, column_name)
) STRICT, WITHOUT ROWID;
`
