/**
 * Mistakes that a person could make, in a source, by its syntax tree. Types are the compiler's, and
 * texts for people are the reader's: neither is changed.
 */

import { type Expression, type Node, type SourceFile, SyntaxKind } from 'typescript/unstable/ast';
import * as is from 'typescript/unstable/ast/is';
import { changesInSql } from './sql.ts';

/** The text from `from` to `to` becomes another. */
export interface Change {
  kind: string;
  from: number;
  to: number;
  replacement: string;
}

export interface Mistake extends Change {
  file: string;
}

/** The other side of the bound, and the other way round. */
const BOUNDS: ReadonlyMap<SyntaxKind, readonly [moved: string, turned: string]> = new Map([
  [SyntaxKind.LessThanToken, ['<=', '>=']],
  [SyntaxKind.LessThanEqualsToken, ['<', '>']],
  [SyntaxKind.GreaterThanToken, ['>=', '<=']],
  [SyntaxKind.GreaterThanEqualsToken, ['>', '<']],
]);
/** A comparison of times is turned: which of two it is in the very millisecond is no mistake. */
const IS_TIME = /(?:Ms|_MS|Us|_US)(?:\(\))?$/;
const EQUALS: ReadonlyMap<SyntaxKind, string> = new Map([
  [SyntaxKind.EqualsEqualsEqualsToken, '!=='],
  [SyntaxKind.ExclamationEqualsEqualsToken, '==='],
]);
const LOGIC: ReadonlyMap<SyntaxKind, string> = new Map([
  [SyntaxKind.AmpersandAmpersandToken, '||'],
  [SyntaxKind.BarBarToken, '&&'],
]);
const SUMS: ReadonlyMap<SyntaxKind, string> = new Map([
  [SyntaxKind.PlusToken, '-'],
  [SyntaxKind.MinusToken, '+'],
  [SyntaxKind.AsteriskToken, '/'],
]);
const IS_SQL = /^\s*(?:SELECT|INSERT|UPDATE|DELETE|WITH|CREATE|ALTER)\b/;
/** Methods without which a value is still of its type. */
const IS_LEFT_OUT = /^(?:filter|sort|toSorted|reverse|toReversed|trim|toLowerCase|slice)$/;

/** Returns the changes that can be made in a source, in the order of its tree. */
export function changesIn(source: SourceFile): Change[] {
  const { text } = source;
  const found: Change[] = [];
  const put = (kind: string, from: number, to: number, replacement: string) =>
    found.push({ kind, from, to, replacement });
  const swap = (kind: string, node: Node, replacement: string) =>
    put(kind, node.getStart(), node.end, replacement);
  /** Takes out one of a list, with the comma behind it. */
  const drop = (kind: string, node: Node) =>
    put(
      kind,
      node.getStart(),
      node.end + (/^\s*,/.exec(text.slice(node.end))?.[0].length ?? 0),
      '',
    );

  const visit = (node: Node): void => {
    if (isOfTypes(node)) return;
    if (is.isBinaryExpression(node)) changeOperator(node.operatorToken, [node.left, node.right]);
    if (is.isPrefixUnaryExpression(node) && node.operator === SyntaxKind.ExclamationToken) {
      swap('negation', node, node.operand.getText());
    }
    if (node.kind === SyntaxKind.TrueKeyword) turn(node, 'false');
    if (node.kind === SyntaxKind.FalseKeyword) turn(node, 'true');
    if (is.isNumericLiteral(node)) swap('constant', node, otherNumber(node.text));
    if (is.isIfStatement(node) || is.isWhileStatement(node)) negate(node.expression);
    if (is.isConditionalExpression(node)) negate(node.condition);
    if (is.isIfStatement(node) && node.elseStatement === undefined && leaves(node.thenStatement)) {
      swap('guard', node, ';');
    }
    if (is.isExpressionStatement(node) && isEffect(node.expression)) swap('statement', node, ';');
    if (is.isAwaitExpression(node) && !isLast(node.parent))
      swap('await', node, node.expression.getText());
    if (is.isSpreadAssignment(node) || is.isSpreadElement(node)) drop('spread', node);
    if (is.isPropertyAssignment(node) || is.isShorthandPropertyAssignment(node)) {
      drop('field', node);
    }
    if (is.isReturnStatement(node) && node.expression !== undefined) empty(node.expression);
    if (is.isArrowFunction(node) && !is.isBlock(node.body)) empty(node.body);
    if (is.isCallExpression(node) && is.isPropertyAccessExpression(node.expression)) {
      const { name, expression } = node.expression;
      if (IS_LEFT_OUT.test(name.getText())) swap('call', node, expression.getText());
      const [first] = node.arguments;
      if (/^Math\.(?:min|max)$/.test(node.expression.getText()) && first !== undefined) {
        swap('call', node, first.getText());
      }
    }
    if (is.isArrayLiteralExpression(node) && node.elements.length > 1) {
      for (const each of node.elements) if (isText(each)) drop('field', each);
    }
    if (isSql(node)) {
      const start = node.getStart();
      for (const { from, to, ...change } of changesInSql(masked(node))) {
        found.push({ ...change, from: start + from, to: start + to });
      }
    }
    node.forEachChild(visit);
  };

  /** A property is shown with its name. */
  function turn(node: Node, other: string): void {
    const { parent } = node;
    if (!is.isPropertyAssignment(parent)) swap('constant', node, other);
    else swap('constant', parent, `${parent.name.getText()}: ${other}`);
  }

  function changeOperator(operator: Node, sides: readonly Node[]): void {
    const bound = BOUNDS.get(operator.kind);
    if (bound !== undefined && !isPatience(operator.parent)) {
      const isTurned =
        sides.some((side) => IS_TIME.test(side.getText())) || isSign(operator, sides[1]);
      if (!isTurned) swap('bound', operator, bound[0]);
      else if (!isCondition(operator.parent)) swap('negation', operator, bound[1]);
    }
    const equal = EQUALS.get(operator.kind);
    // The condition of an `if` is negated whole.
    if (equal !== undefined && !isCondition(operator.parent)) swap('negation', operator, equal);
    const logic = LOGIC.get(operator.kind);
    if (logic !== undefined) swap('logic', operator, logic);
    if (operator.kind === SyntaxKind.QuestionQuestionToken) {
      for (const right of sides.slice(1)) swap('logic', operator.parent, right.getText());
    }
    const sum = SUMS.get(operator.kind);
    if (sum !== undefined && !sides.some(isText)) swap('sum', operator, sum);
  }

  function negate(condition: Expression): void {
    const [from, to] = [condition.getStart(), condition.end];
    const own = text.slice(from, to);
    if (!own.startsWith('!') || /[&|]/.test(own)) put('negation', from, to, `!(${own})`);
  }

  function empty(value: Expression): void {
    if (isText(value) && !/^.{0,2}$/.test(value.getText())) swap('result', value, "''");
    if (is.isArrayLiteralExpression(value) && value.elements.length > 0) {
      swap('result', value, '[]');
    }
  }

  visit(source);
  return found;
}

function isOfTypes(node: Node): boolean {
  return (
    is.isTypeNode(node) ||
    is.isInterfaceDeclaration(node) ||
    is.isTypeAliasDeclaration(node) ||
    is.isImportDeclaration(node)
  );
}

/** Nothing of a function comes after its last statement, whether it is waited for or not. */
const isLast = (node: Node) =>
  is.isExpressionStatement(node) &&
  is.isBlock(node.parent) &&
  node.parent.statements.at(-1) === node;

/** A loop gives up after so many turns: one more is no mistake. */
const isPatience = (condition: Node) =>
  is.isForStatement(condition.parent) && /_MAX$/.test(condition.getText());

/** `at < 0` says that nothing was found: what was is seldom at 0. */
const isSign = (operator: Node, right: Node | undefined) =>
  right?.getText() === '0' && /^(?:<|>=)$/.test(operator.getText());

const isText = (node: Node) =>
  is.isStringLiteral(node) || is.isTemplateExpression(node) || isPlainTemplate(node);

const isPlainTemplate = (node: Node) => node.kind === SyntaxKind.NoSubstitutionTemplateLiteral;

const isCondition = (node: Node) =>
  ((is.isIfStatement(node.parent) || is.isWhileStatement(node.parent)) &&
    node.parent.expression === node) ||
  (is.isConditionalExpression(node.parent) && node.parent.condition === node);

/** Halves a number; 0 and 1 become 1 and 2. One more or less of many is no mistake of a person. */
function otherNumber(text: string): string {
  const number = Number(text.replaceAll('_', ''));
  return String(number <= 1 ? number + 1 : Math.ceil(number / 2));
}

/** Returns whether a statement only ends what it stands in. */
function leaves(node: Node): boolean {
  if (is.isBlock(node)) return node.statements.length === 1 && node.statements.every(leaves);
  return (
    is.isReturnStatement(node) ||
    is.isThrowStatement(node) ||
    is.isContinueStatement(node) ||
    is.isBreakStatement(node)
  );
}

/** Returns whether an expression stands for its effect: a call, or what is assigned. */
function isEffect(node: Expression): boolean {
  if (is.isAwaitExpression(node)) return isEffect(node.expression);
  if (is.isYieldExpression(node)) return node.expression !== undefined && isEffect(node.expression);
  if (is.isBinaryExpression(node)) return /^[^=!<>]{0,3}=$/.test(node.operatorToken.getText());
  return is.isCallExpression(node) && node.expression.kind !== SyntaxKind.SuperKeyword;
}

/** Returns whether a text is SQL: by its tag, or by its first word. */
function isSql(node: Node): boolean {
  if (!isText(node)) return false;
  const { parent } = node;
  if (is.isTaggedTemplateExpression(parent) && parent.tag.getText() === 'sql') return true;
  return IS_SQL.test(node.getText().slice(1));
}

/** Returns the SQL of a node with its holes and texts masked by letters; each place stays. */
function masked(node: Node): string {
  const start = node.getStart();
  let text = node.getText();
  const mask = (from: number, to: number) => {
    text = text.slice(0, from) + 'h'.repeat(to - from) + text.slice(to);
  };
  if (is.isTemplateExpression(node)) {
    for (const { expression, literal } of node.templateSpans) {
      mask(expression.getFullStart() - start - 2, literal.getStart() - start + 1);
    }
  }
  const inside = text.slice(1, -1).replace(/'[^']*'/g, (said) => 'h'.repeat(said.length));
  return `(${inside})`;
}
