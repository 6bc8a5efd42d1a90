/**
 * Words that were settled later: jobs of one kind are `unique`, and what a plugin from outside hears is an `event` (it
 * was `fact`).
 */

export const words = `
ALTER TABLE jobs RENAME COLUMN single_key TO unique_key;
DROP INDEX jobs_single;
CREATE UNIQUE INDEX jobs_unique ON jobs (task, unique_key) WHERE unique_key IS NOT NULL AND state IN ('PENDING', 'STARTED', 'RETRY');
UPDATE jobs SET payload = json_remove(json_set(payload, '$.event', json_extract(payload, '$.fact')), '$.fact')
WHERE task LIKE '%.hear' AND json_extract(payload, '$.fact') IS NOT NULL;
`
