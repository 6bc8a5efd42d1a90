/** The number that ledger and index share (`core/index/generation.ts`). An older program leaves it as it is. */
export const generation = `
CREATE TABLE generation (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  number INTEGER NOT NULL,
  -- on its way into the index; NULL: none is
  next INTEGER
) STRICT;
INSERT INTO generation VALUES (1, 0, NULL);
`
