/** Arithmetic on attention weights. No drawing here. */

/** Mean of several maps of the same size: [N][R][C] -> [R][C] */
export function mean(maps) {
  return maps[0].map((row, r) =>
    row.map((_, c) => maps.reduce((sum, map) => sum + map[r][c], 0) / maps.length),
  );
}

/** One map of many: [L][H][R][C] -> [R][C]. Layer and head are numbers from 0, or "mean". */
export function choose(weights, layer, head) {
  const layers = layer === "mean" ? weights : [weights[layer]];
  return mean(layers.flatMap((heads) => (head === "mean" ? heads : [heads[head]])));
}

const total = (numbers) => numbers.reduce((sum, number) => sum + number, 0);

/** Adds the numbers of each group's pieces: a word is looked at as much as its pieces together. */
export const addColumns = (row, groups) =>
  groups.map((group) => total(group.pieces.map((piece) => row[piece])));

/** From pieces to words: columns are added, rows averaged, so that a row still adds up to 1. */
export function grouped(map, rows, columns) {
  return rows.map((group) => {
    const summed = group.pieces.map((piece) => addColumns(map[piece], columns));
    return columns.map((_, c) => total(summed.map((row) => row[c])) / summed.length);
  });
}

/** The pieces as groups of one, in the form of words. */
export function single(labels, words) {
  const special = new Set(words.filter((word) => word.special).flatMap((word) => word.pieces));
  return labels.map((text, at) => ({ text, special: special.has(at), pieces: [at] }));
}

/**
 * What stands at the rows and columns of each attention of a sentence, as words or as pieces.
 * `part`: of the attention that /translate answers, or all that /trace answers.
 */
export function axesOf(part, pieces) {
  const source = pieces ? single(part.source, part.source_words) : part.source_words;
  const read = pieces ? single(part.read, part.read_words) : part.read_words;
  const written = pieces ? single(part.written, part.written_words) : part.written_words;
  return {
    encoder: { rows: source, columns: source },
    decoder: { rows: read, columns: read },
    cross: { rows: written, columns: source },
  };
}
